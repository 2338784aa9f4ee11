/** The files that are generated from the migrated schema: up to date, reproducible, and sensitive to changes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readCatalogue } from "../../../scripts/gen/catalogue.ts";
import { dumpSchema } from "../../../scripts/gen/schema.ts";
import { generateTypes } from "../../../scripts/gen/types.ts";
import { createTestDatabase } from "../../helpers/database.ts";

const script = fileURLToPath(new URL("../../../scripts/gen.ts", import.meta.url));

async function gen(...parameters: string[]): Promise<{ status: number | null; said: string }> {
  const child = spawn(process.execPath, [script, ...parameters], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: child.exitCode, said: out + err };
}

test("the generated files are up to date", { timeout: 120_000 }, async () => {
  expect(await gen("--check")).toEqual({ status: 0, said: expect.stringContaining("up to date") });
});

test("stale files fail the check, and the message says what to run", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "headroom-gen-"));
  try {
    // One that is out of date; the others are missing.
    await mkdir(join(folder, "docs"));
    await writeFile(join(folder, "docs", "state-machine.md"), "# As it was\n");
    const { status, said } = await gen("--check", "--into", folder);
    expect(status).toBe(1);
    expect(said).toMatch(/^Stale: .*sql\/schema\.sql, docs\/state-machine\.md, .*npm run gen$/m);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

describe("what is generated", async () => {
  const db = await createTestDatabase({ template: "whole" });
  const other = await createTestDatabase({ template: "whole" });
  const client = await db.superuser.connect();
  const types = async (typescript = "") => generateTypes(await readCatalogue(client), typescript);
  // The tests roll their changes back, so that all of them begin with the same dump.
  const before = await dumpSchema(client);

  test("is the same for two databases of the same schema", async () => {
    const second = await other.superuser.connect();
    expect(before).toBe(await dumpSchema(second));
    expect(await types()).toBe(generateTypes(await readCatalogue(second), ""));
  });

  test("does not depend on which dated partitions exist", async () => {
    await db.superuser.pool.query("select outbox.ensure_partitions(45)");
    expect(await dumpSchema(client)).toBe(before);
  });

  test.each([
    ["a grant", "grant select on outbox.streams to anon"],
    ["a default", "alter table outbox.streams alter ordered set default false"],
    ["a constraint", "alter table outbox.streams add constraint extra check (max_tries < 999)"],
    ["an index", "create index extra on outbox.streams (created_at)"],
    ["a trigger on one partition alone", "drop trigger append_only on outbox.attempts_forever"],
    ["an owner", "alter function outbox.reap owner to postgres"],
    ["a policy", "create policy extra on outbox.streams using (true)"],
    ["a setting of a function", "alter function outbox.reap reset search_path"],
    ["a default privilege", "alter default privileges for role headroom_owner grant select on tables to anon"],
  ])("shows %s that was changed behind the migrations' back", async (_what, change) => {
    await client.query("begin");
    await client.query(change);
    const after = await dumpSchema(client, { inTransaction: true });
    await client.query("rollback");
    expect(after).not.toBe(before);
  });

  test("shows nothing of what was rolled back", async () => {
    expect(await dumpSchema(client)).toBe(before);
  });

  test("describes functions as SQL defines them", async () => {
    await client.query("begin; create schema g authorization headroom_owner; set local role headroom_owner");
    await client.query(`
      create type g.colour as enum ('red', 'green');
      create type g.pair as (a integer, b text);
      comment on type g.pair is 'Two. Nullable: b.';
      create table g.unseen (a integer);
      create table g.things (thing_id bigint primary key, colour g.colour, tags text[] not null);
      create function g.f(p_a integer, p_when timestamptz default now(), p_data jsonb default null)
        returns table (n bigint, note text) language sql as 'select 1, null';
      comment on function g.f(integer, timestamptz, jsonb) is 'Does. Nullable: note.';
      create function g.many() returns setof g.things language sql as 'select * from g.things';
      create function g.pair() returns g.pair language sql as 'select 1, null';
      create function g.word(text) returns text language sql as 'select $1';
      create function g.unused() returns setof g.unseen language sql as 'select * from g.unseen';
      grant execute on function g.pair() to headroom_control;
      create function g.touch() returns trigger language plpgsql as 'begin return new; end';`);
    const typescript = 'call(db, "g.f", {}); await call(db, \'g.many\', {}); call(db, `g.word`, {}); "g.touch"';
    const generated = (await types(typescript)).replaceAll(/\s+/g, " ");
    const [granted, unseen] = [await types("g.many"), await types("import type { GUnseen } from")];
    await client.query("rollback");
    expect(generated).toContain('export type GColour = "red" | "green";');
    expect(generated).toContain(
      "export interface GThings { thing_id: number; colour: GColour | null; tags: string[]; }",
    );
    expect(generated).toContain("export interface GPair { a: number; b: string | null; }");
    expect(generated).toContain(
      "args: { p_a: number | null; p_when?: Date | string | null | undefined; p_data?: unknown; }; " +
        "result: { n: number; note: string | null }[];",
    );
    expect(generated).toContain('"g.many": { args: Record<string, never>; result: GThings[]; }');
    expect(generated).toContain('"g.pair": { args: Record<string, never>; result: GPair; }');
    expect(generated).toContain('"g.word": { args: { arg1: string | null; }; result: string; }');
    expect(generated).toContain('"g.word": { returns: "value", json: [], positional: true }');
    expect(generated).not.toMatch(/g\.touch|g\.unused|GUnseen/);
    // By default only what some role may call, and what TypeScript names, is generated.
    expect(granted).toContain('"g.pair": {');
    expect(granted).not.toMatch(/g\.many|g\.f"|GThings|GColour/);
    expect(unseen).toContain("export interface GUnseen");
  });

  test("refuses two functions of one name", async () => {
    await client.query("begin; create schema g authorization headroom_owner; set local role headroom_owner");
    await client.query("create function g.f(integer) returns integer language sql as 'select 1'");
    await client.query("create function g.f(text) returns integer language sql as 'select 1'");
    await expect(types()).rejects.toThrow("g.f exists twice");
    await client.query("rollback");
  });
});
