/**
 * The package as npm packs it, installed in another project, without the packages that only `headroom up` needs. Node strips no types
 * there, so it must run compiled.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { dataFolder } from "../../../helpers/data-folder.ts";
import { createEmptyDatabase, createTestDatabase } from "../../../helpers/database.ts";
import { jwtSecret } from "../../http/harness.ts";
import { runEnvironment, startHeadroom } from "../harness.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const project = await mkdtemp(join(dataFolder, "headroom-package-"));
afterAll(() => rm(project, { recursive: true, force: true }));
const cli = join(project, "node_modules", "headroom", "bin", "headroom.js");

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

async function run(
  program: string,
  parameters: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const child = spawn(program, parameters, {
    cwd,
    env: { ...runEnvironment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: child.exitCode, out, err };
}

const manifestSchema = z.object({
  version: z.string(),
  engines: z.object({ node: z.string() }),
  optionalDependencies: z.record(z.string(), z.string()),
  exports: z.record(z.string(), z.unknown()),
});
const packedSchema = z
  .array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }))
  .length(1);
let files: string[] = [];
const manifest = manifestSchema.parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));

/** The Node of this run, and all others on this machine that the package supports: one of each major version. */
async function promisedNodes(): Promise<(readonly [string, string])[]> {
  const least = manifest.engines.node.replace(">=", "").split(".").map(Number);
  const found = new Map<string, readonly [string, string]>();
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  for (const program of [process.execPath, process.env["npm_node_execpath"] ?? "", ...onPath]) {
    const asked = await run(program, ["--version"], project).catch(() => undefined);
    const [major = 0, minor = 0] = (asked?.out ?? "").trim().replace("v", "").split(".").map(Number);
    const isPromised = major > (least[0] ?? 0) || (major === least[0] && minor >= (least[1] ?? 0));
    if (isPromised && !found.has(`Node ${major}`)) found.set(`Node ${major}`, [`Node ${major}`, program]);
  }
  return [...found].toSorted(([a], [b]) => a.localeCompare(b)).map(([, named]) => named);
}

/** A program that uses the library as its documentation says. */
const program = `
import pg from "pg";
import { createRelay, createStream, enqueue, migrate, registerRails } from "headroom/outbox";
import * as everything from "headroom";

const connectionString = process.env.DATABASE_URL;
const client = new pg.Client({ connectionString });
await client.connect();
await migrate(client);
await createStream(client, "orders");
let arrive;
const arrived = new Promise((resolve) => (arrive = resolve));
const rail = {
  name: "shop", capability: "idempotent", timeoutMs: 1000,
  send(message) { arrive(message.payload.total); return { kind: "delivered" }; },
};
await registerRails(client, [rail]);
await enqueue(client, { stream: "orders", key: "o1", instructionId: "o1", idempotencyKey: "created", rail: "shop", payload: { total: 4200 } });
const relay = createRelay({ connectionString, rails: [rail], streams: ["orders"] });
await relay.start();
console.log("arrived", await arrived, typeof everything.createWebhookRail);
await relay.stop();
await client.end();
`;

/** A program that the compiler must accept. */
const typed = `
import { createRelay, enqueue, type Rail, type EnqueueResult } from "headroom/outbox";
const rail: Rail = { name: "shop", capability: "blind", timeoutMs: 10, send: () => ({ kind: "delivered" }) };
export const relay = createRelay({ connectionString: "postgresql://localhost/shop", rails: [rail], streams: ["orders"] });
export const row: Promise<EnqueueResult> = enqueue({ query: () => Promise.resolve({ rows: [] }) }, {
  stream: "orders", key: "o1", instructionId: "o1", idempotencyKey: "created", rail: rail.name, payload: { total: 4200 },
});
// @ts-expect-error -- a row needs a stream
export const wrong = enqueue({ query: () => Promise.resolve({ rows: [] }) }, { instructionId: "o1" });
`;

const nodes = await promisedNodes();

describe("npm pack", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    const packed = await run("npm", ["pack", "--json", "--pack-destination", project], root);
    expect(packed.status, packed.err).toBe(0);
    // The build that runs before it may print first.
    const [archive] = packedSchema.parse(JSON.parse(packed.out.slice(packed.out.indexOf("[\n"))));
    files = archive?.files.map((file) => file.path) ?? [];
    await writeFile(join(project, "package.json"), JSON.stringify({ name: "shop", type: "module", private: true }));
    const options = [
      "--omit=optional",
      "--prefer-offline",
      "--ignore-scripts",
      "--no-package-lock",
      "--no-audit",
      "--no-fund",
    ];
    // Under the oldest Node, the first to miss a feature.
    const PATH = [dirname(nodes[0]?.[1] ?? ""), process.env["PATH"]].join(delimiter);
    const install = await run("npm", ["install", ...options, archive?.filename ?? ""], project, { PATH });
    expect(install.status, install.err).toBe(0);
    expect(install.err).not.toMatch(/EBADENGINE|deprecated|peer/);
    await symlink(join(root, "node_modules", "@types", "pg"), join(project, "node_modules", "@types", "pg"));
  }, 300_000);

  test("contains what it needs to run, and no tests", () => {
    for (const path of [
      "bin/headroom.js",
      "deploy/github/headroom.mjs",
      "dist/outbox/index.js",
      "dist/outbox/index.d.ts",
      "sql/migrations/0001_headroom_roles.sql",
      "LICENSE",
    ]) {
      expect(files).toContain(path);
    }
    expect(
      files.filter((path) => /\.test\.(ts|js)$|^(test|bench|examples)\//.test(path) && !path.startsWith("src/")),
    ).toEqual([]);
  });

  test("names the same Node in its manifest, its README and its first guide", async () => {
    const [, least] = /^>=(\d+\.\d+)$/.exec(manifest.engines.node) ?? [];
    for (const file of ["README.md", "docs/guides/first-ten-minutes.md"]) {
      expect(await readFile(join(root, file), "utf8")).toContain(`Node.js ${least}`);
    }
  });

  test.for(nodes)("every part of it can be imported, on %s", async ([, node]) => {
    const parts = Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"));
    const names = parts.map((name) => name.replace(".", "headroom"));
    expect(names).toEqual([
      "headroom",
      "headroom/capacity",
      "headroom/notify",
      "headroom/provisioning",
      "headroom/billing",
      "headroom/outbox",
      "headroom/webhooks",
      "headroom/client",
    ]);
    await writeFile(join(project, "parts.mjs"), names.map((name) => `await import("${name}");`).join("\n"));
    expect(await run(node, ["parts.mjs"], project)).toEqual({ status: 0, out: "", err: "" });
  });

  test.for(nodes)("the installed library works, and so does the command line, on %s", async ([, node]) => {
    await using db = await createEmptyDatabase();
    await writeFile(join(project, "main.mjs"), program);
    const outcome = await run(node, ["main.mjs"], project, { DATABASE_URL: db.url });
    expect(outcome).toEqual({ status: 0, out: "arrived 4200 function\n", err: "" });

    expect(await run(node, [cli, "--version"], project)).toEqual({
      status: 0,
      out: `${manifest.version}\n`,
      err: "",
    });
    expect(await run(node, [cli, "migrate", "--json"], project, { DATABASE_URL: db.url })).toMatchObject({
      status: 0,
    });
    const status = await run(node, [cli, "outbox", "status", "--json"], project, { DATABASE_URL: db.url });
    expect(JSON.parse(status.out).streams).toContainEqual(expect.objectContaining({ stream: "capacity" }));
    const doctor = await run(node, [cli, "doctor", "--offline"], project, { DATABASE_URL: db.url });
    expect(doctor.out).toContain("ok    schema");
    expect(doctor.out).not.toContain("\u001b");
  });

  test("a server and a relay run without the packages that only `headroom up` needs", async () => {
    const db = await createTestDatabase();
    const gateway = { HEADROOM_GATEWAY_URL: db.as("authenticator").url, HEADROOM_JWT_SECRET: jwtSecret };
    const server = startHeadroom(["serve", "--port", "0", "--json"], { program: cli, cwd: project, env: gateway });
    const relay = startHeadroom(["relay", "--json"], {
      program: cli,
      cwd: project,
      env: { DATABASE_URL: db.as("headroom_executor").url },
    });
    const ready = await server.line((line) => line.includes("server_ready"));
    const { url } = z.object({ url: z.string() }).parse(JSON.parse(ready));
    expect(await (await fetch(`${url}/readyz`)).text()).toBe("ok\n");
    await relay.line((line) => line.includes("relay_ready"));
    expect(await server.end("SIGTERM")).toMatchObject({ status: 0, err: "" });
    expect(await relay.end("SIGTERM")).toMatchObject({ status: 0, err: "" });
  });

  test.for(nodes)("`headroom up` says which packages it needs, on %s", async ([, node]) => {
    expect(await run(node, [cli, "up"], project)).toEqual({
      status: 1,
      out: "",
      err: `error: headroom up needs packages that are not installed: ${Object.keys(manifest.optionalDependencies).join(", ")}.
  hint: Run npm install --include=optional. With --database-url, headroom up works without them, and so does every other command.
`,
    });
  });

  test("its types are found", async () => {
    await writeFile(join(project, "typed.ts"), typed);
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--skipLibCheck",
      "--types",
      "node",
      "typed.ts",
    ];
    expect(await run(process.execPath, [tsc, ...options], project)).toEqual({ status: 0, out: "", err: "" });
  });
});
