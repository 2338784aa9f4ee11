/** The webhooks guide is true: its example runs and prints what the guide says, and every block is part of that example, or works. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { withClient } from "../../../helpers/clusters.ts";
import { createEmptyDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { headroom, runEnvironment } from "../harness.ts";

const root = new URL("../../../../", import.meta.url);
const guide = await readFile(new URL("docs/guides/webhooks.md", root), "utf8");
const blocks = [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map((match) => ({
  language: match[1] ?? "",
  text: match[2] ?? "",
}));
const blocksOf = (language: string): string[] =>
  blocks.filter((block) => block.language === language).map((block) => block.text);

const commandsOf = (beginning: string): string[] =>
  blocksOf("sh").flatMap((block) => block.split("\n").filter((line) => line.startsWith(beginning)));

/** With the command that the guide gives. */
async function runExample(env: Record<string, string>) {
  const [command = ""] = commandsOf("npx node ");
  const child = spawn(process.execPath, command.split(" ").slice(2), {
    cwd: fileURLToPath(root),
    env: { ...runEnvironment, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { status: child.exitCode, out };
}

test("the example of the guide needs nothing but its command", { timeout: 90_000 }, async () => {
  expect(await runExample({})).toEqual({ status: 0, out: blocksOf("text")[0] });
});

test.each(POSTGRES_VERSIONS)(
  "on PostgreSQL %i the example prints what the webhooks guide says, and its commands and statements work on the engine alone",
  { timeout: 120_000 },
  async (version) => {
    await using db = await createEmptyDatabase(version);
    const env = { DATABASE_URL: db.url, HEADROOM_SECRET_KEY: "0123456789abcdef0123456789abcdef" };
    expect(await runExample(env)).toEqual({ status: 0, out: blocksOf("text")[0] });

    const commands = commandsOf("npx headroom ");
    expect(commands.length).toBeGreaterThanOrEqual(7);
    for (const command of commands) {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
      expect(await headroom(words.slice(2), { env })).toMatchObject({ status: 0, err: "" });
    }
    const { rows: others } = await withClient(db.url, (client) =>
      client.query("select nspname from pg_namespace where nspname in ('directory', 'capacity', 'inbound')"),
    );
    expect(others).toEqual([]);
    for (const statement of blocksOf("sql")) {
      const { rows } = await withClient(db.url, (client) => client.query<{ status: string }>(statement));
      expect(rows).toMatchObject([{ status: "PENDING" }]);
    }
  },
);

test("every piece of TypeScript in the webhooks guide is in the example", async () => {
  const folder = new URL("examples/webhooks/", root);
  const sources = await Promise.all((await readdir(folder)).map((name) => readFile(new URL(name, folder), "utf8")));
  expect(blocksOf("ts").length).toBeGreaterThanOrEqual(2);
  for (const block of blocksOf("ts")) expect(sources.some((source) => source.includes(block))).toBe(true);
});
