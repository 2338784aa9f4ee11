/** The outbox guide is true: its example runs and prints what the guide says, and every block is part of that example, or works. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createEmptyDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { withClient } from "../../../helpers/clusters.ts";
import { headroom, runEnvironment } from "../harness.ts";

const root = new URL("../../../../", import.meta.url);
const guide = await readFile(new URL("docs/guides/outbox.md", root), "utf8");

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map((match) => ({
  language: match[1] ?? "",
  text: match[2] ?? "",
}));

function blocksOf(language: string): string[] {
  return blocks.filter((block) => block.language === language).map((block) => block.text);
}

async function runExample(databaseUrl: string): Promise<{ status: number | null; out: string }> {
  const child = spawn(process.execPath, ["--conditions=source", "examples/outbox/shop.ts"], {
    cwd: fileURLToPath(root),
    env: { ...runEnvironment, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { status: child.exitCode, out };
}

const withEngineAlone = { timeout: 120_000 };

test.each(POSTGRES_VERSIONS)(
  "on PostgreSQL %i the example prints what the guide says, and its commands and statements work on the engine alone",
  withEngineAlone,
  async (version) => {
    await using db = await createEmptyDatabase(version);
    expect(await runExample(db.url)).toEqual({ status: 0, out: blocksOf("text")[0] });

    const [enqueue, archive, roles] = blocksOf("sql");
    const sql = (statement: string | undefined): Promise<{ rows: Record<string, unknown>[] }> =>
      withClient(db.url, (client) => client.query<Record<string, unknown>>(statement ?? ""));
    expect((await sql(enqueue)).rows).toMatchObject([{ created: true }]);
    const lines = (await sql(archive)).rows.map((row) => row["state"]);
    expect(lines.slice(0, 4)).toEqual(["DISPATCHING", "RETRYABLE", "DISPATCHING", "DISPATCHED"]);
    expect(lines.at(-1)).toBe("DISPATCHED");
    // Roles belong to the cluster, so the guide's role name is not used here.
    const asked = (roles ?? "").replaceAll("shop", db.name);
    await sql(`begin; ${asked}; rollback`);

    const commands = blocksOf("sh")
      .flatMap((block) => block.split("\n"))
      .filter((line) => line.startsWith("npx headroom"));
    expect(commands.length).toBeGreaterThanOrEqual(3);
    for (const command of commands) {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
      expect(await headroom(words.slice(2), { env: { DATABASE_URL: db.url } })).toMatchObject({ status: 0, err: "" });
    }
    const { rows } = await sql(
      "select nspname from pg_namespace where nspname in ('directory', 'capacity', 'inbound')",
    );
    expect(rows).toEqual([]);
    // Everything again: what was delivered is recognised, what was redriven is refused.
    expect((await runExample(db.url)).out.split("\n")).toContain("enqueued order-1 #1, new: false");
  },
);

test("every piece of TypeScript in the guide is in the example", async () => {
  const folder = new URL("examples/outbox/", root);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
  const sources = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
  expect(blocksOf("ts").length).toBeGreaterThanOrEqual(4);
  for (const block of blocksOf("ts")) expect(sources.some((source) => source.includes(block))).toBe(true);
});

test("there is no other kind of block", () => {
  expect(
    blocks.map((block) => block.language).filter((language) => !["ts", "sql", "sh", "text"].includes(language)),
  ).toEqual([]);
  expect(guide.match(/^```/gm)).toHaveLength(blocks.length * 2);
});
