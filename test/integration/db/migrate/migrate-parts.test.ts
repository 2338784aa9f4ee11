/**
 * The engine can be installed alone into a database with other things in it; the rest can follow; and no schema of another application is
 * touched.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { dumpSchema } from "../../../../scripts/gen/schema.ts";
import { withConnection } from "../../../../src/db/connect.ts";
import { schemasOf } from "../../../../src/db/layers.ts";
import { migrate, type MigrateOptions } from "../../../../src/db/migrate.ts";
import * as outbox from "../../../../src/outbox/index.ts";
import { everyVersion, startPlainCluster, testPassword, urlOf } from "../../../helpers/clusters.ts";
import { createEmptyDatabase, createTestDatabase } from "../../../helpers/database.ts";

const sqlDir = fileURLToPath(new URL("../../../../sql/", import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), "headroom-parts-"));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const migrateAt = (url: string, options: MigrateOptions = {}) =>
  withConnection(url, (client) => migrate(client, options));

const all = async (url: string, query: string): Promise<unknown[]> =>
  withConnection(url, async (client) => (await client.query(query)).rows);

const engineSchemas = ["headroom", "outbox", "webhooks", "payments", "ledger"];

/** How many objects of each kind a schema's files make. The migrator's history has two tables of its own; partitions are not counted. */
async function promised(schema: string): Promise<{ schema: string; tables: number; views: number; functions: number }> {
  const filesIn = async (folder: string): Promise<number> => {
    const entries = await readdir(join(sqlDir, folder, schema), { recursive: true }).catch(() => []);
    return entries.filter((entry) => entry.endsWith(".sql")).length;
  };
  const names = (await readdir(join(sqlDir, "migrations"))).filter((name) => name.includes(`_${schema}_`));
  const texts = await Promise.all(names.map((name) => readFile(join(sqlDir, "migrations", name), "utf8")));
  const tables = texts.join("\n").match(/^create table /gm)?.length ?? 0;
  return {
    schema,
    tables: tables + (schema === "headroom" ? 2 : 0),
    views: await filesIn("views"),
    functions: await filesIn("functions"),
  };
}

/** Our objects in the database, by schema; and what is in public, which must be nothing. */
const held = `
  select n.nspname::text as schema,
         (select count(*)::int from pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p') and not c.relispartition) as tables,
         (select count(*)::int from pg_class c where c.relnamespace = n.oid and c.relkind = 'v') as views,
         (select count(distinct p.proname)::int from pg_proc p where p.pronamespace = n.oid) as functions
    from pg_namespace n
   where pg_get_userbyid(n.nspowner) = 'headroom_owner' or n.nspname = 'public'
   order by n.oid`;
const ofPublic = "select nspacl::text as rights from pg_namespace where nspname = 'public'";
const headroomRoles = String.raw`
  select array_agg(rolname::text order by rolname) as names from pg_roles
   where rolname like 'headroom\_%' or rolname in ('anon', 'authenticated', 'service_role', 'authenticator')`;

describe.each(everyVersion)("the engine alone on PostgreSQL %i", async (version) => {
  const cluster = await startPlainCluster(version);
  afterAll(() => cluster.stop());
  await withConnection(cluster.url, async (client) => {
    await client.query(`create role ordinary login createrole password '${testPassword}'`);
    await client.query("create database engine owner ordinary");
    await client.query("create database whole owner ordinary");
  });
  const url = urlOf(cluster.port, "engine", "ordinary");

  test("is five schemas and five roles, and nothing in public", async () => {
    const publicBefore = await all(url, ofPublic);
    const result = await withConnection(url, (client) => outbox.migrate(client));
    expect(result.applied.at(-1)).toMatch(/^migrations\/\d{4}_(headroom|outbox|webhooks|payments|ledger)_/);
    const rows = await all(url, held);
    expect(rows).toHaveLength(engineSchemas.length + 1);
    expect(rows).toEqual(
      expect.arrayContaining([
        { schema: "public", tables: 0, views: 0, functions: 0 },
        ...(await Promise.all(engineSchemas.map(promised))),
      ]),
    );
    expect(await all(url, ofPublic)).toEqual(publicBefore);
    expect(await all(url, headroomRoles)).toEqual([
      { names: ["headroom_auditor", "headroom_control", "headroom_executor", "headroom_ingest", "headroom_owner"] },
    ]);
    expect(await migrateAt(url, { only: "outbox" })).toMatchObject({ applied: [], reapplied: [], missing: [] });
  });

  test("becomes the whole when the rest is added, and keeps its streams and rows", { timeout: 120_000 }, async () => {
    await withConnection(url, async (client) => {
      await outbox.createStream(client, "orders", { maxTries: 7 });
      await client.query("select outbox.register_rail('shop', 'idempotent', 1000)");
      await outbox.enqueue(client, {
        stream: "orders",
        key: "order-1",
        instructionId: "order-1",
        idempotencyKey: "created",
        rail: "shop",
        payload: { total: 12 },
      });
    });
    const result = await migrateAt(url);
    expect(result.applied[0]).toBe("migrations/0014_directory_roles.sql");
    expect(result.missing).toEqual([]);
    const kept = `select s.max_tries, p.payload from outbox.payloads p join outbox.streams s using (stream_id) where s.name = 'orders'`;
    expect(await all(url, kept)).toEqual([{ max_tries: 7, payload: { total: 12 } }]);

    const whole = urlOf(cluster.port, "whole", "ordinary");
    await migrateAt(whole);
    const [added, atOnce] = await Promise.all(
      ["engine", "whole"].map((name) => withConnection(cluster.urlFor(name), dumpSchema)),
    );
    expect(added).toBe(atOnce);
    expect(await migrateAt(url)).toMatchObject({ applied: [], reapplied: [], missing: [] });
  });
});

describe("where the whole is installed", async () => {
  const db = await createTestDatabase();

  test("migrating the engine alone again changes nothing, and does not miss the rest", async () => {
    expect(await migrateAt(db.url, { only: "outbox" })).toMatchObject({ applied: [], reapplied: [], missing: [] });
    expect(await migrateAt(db.url)).toMatchObject({ applied: [], reapplied: [], missing: [] });
  });

  test("the engine alone is not upgraded under the rest", async () => {
    const file = "functions/outbox/claim/claim.sql";
    await db.superuser.pool.query("update headroom.recreatables set checksum = 'outdated' where path = $1", [file]);
    await expect(migrateAt(db.url, { only: "outbox" })).rejects.toMatchObject({
      code: "engine_not_alone",
      hint: expect.stringContaining("headroom migrate, without --only"),
    });
    expect((await migrateAt(db.url)).reapplied).toContain(file);
  });
});

test("each part is ordered separately: the rest may be added to an engine that is ahead", async () => {
  const folder = join(scratch, "order");
  await mkdir(join(folder, "migrations"), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(folder, "migrations", name), text);
  await write("0001_outbox_first.sql", "-- run as: migrator\ncreate schema outbox authorization headroom_owner;\n");
  await write("0002_capacity_first.sql", "-- run as: migrator\ncreate schema capacity authorization headroom_owner;\n");
  await write("0003_outbox_second.sql", "create table outbox.things (id int);\n");
  await using db = await createEmptyDatabase();
  const engine = await migrateAt(db.url, { sqlDir: folder, only: "outbox" });
  expect(engine).toMatchObject({
    applied: ["migrations/0001_outbox_first.sql", "migrations/0003_outbox_second.sql"],
    version: 3,
  });
  expect(await migrateAt(db.url, { sqlDir: folder })).toMatchObject({
    applied: ["migrations/0002_capacity_first.sql"],
    version: 3,
  });
});

/** A user's own schema with a table in it, and what can be seen of it. */
const plant = (url: string, schema: string) =>
  withConnection(url, (client) =>
    client.query(`create schema ${schema}; create table ${schema}.messages (body text);
                  insert into ${schema}.messages values ('mine'); grant select on ${schema}.messages to public`),
  );
const state = (schema: string) => `
  select n.nspowner::regrole::text as owner, c.relname::text as name, c.relacl::text as rights, (select body from ${schema}.messages) as body
    from pg_namespace n left join pg_class c on c.relnamespace = n.oid where n.nspname = '${schema}'`;

describe("a schema with one of our names that belongs to another application", () => {
  test.each([
    ["outbox", undefined],
    ["outbox", "outbox"],
    ["headroom", "outbox"],
    ["capacity", undefined],
  ] as const)("(%s) is refused before anything is changed (only: %s)", async (schema, only) => {
    await using db = await createEmptyDatabase();
    await plant(db.url, schema);
    const before = await all(db.superuserUrl, state(schema));
    await expect(migrateAt(db.url, { only })).rejects.toMatchObject({
      code: "schema_taken",
      message: expect.stringMatching(new RegExp(`schema ${schema} .* belongs to migrator`)),
      hint: expect.stringContaining(`alter schema ${schema} rename to`),
    });
    expect(await all(db.superuserUrl, state(schema))).toEqual(before);
    const made = schemasOf(["engine", "product"]).filter((name) => name !== schema);
    const others = `select nspname::text from pg_namespace where nspname = any ('{${made.join(",")}}')`;
    expect(await all(db.superuserUrl, others)).toEqual([]);
  });

  test("does not matter where the part with that name is not installed", async () => {
    await using db = await createEmptyDatabase();
    await plant(db.url, "capacity");
    const before = await all(db.superuserUrl, state("capacity"));
    expect((await migrateAt(db.url, { only: "outbox" })).applied.length).toBeGreaterThan(0);
    expect(await all(db.superuserUrl, state("capacity"))).toEqual(before);
    await expect(migrateAt(db.url)).rejects.toMatchObject({ code: "schema_taken" });
  });
});

describe("a database that an unreleased version made", async () => {
  const db = await createTestDatabase();

  test("is refused, and nothing is changed", async () => {
    const past = `update headroom.migrations set path = 'migrations/0001_roles.sql', checksum = 'of before' where number = 1;
                  delete from headroom.recreatables`;
    await withConnection(db.superuserUrl, (client) => client.query(past));
    await expect(migrateAt(db.url)).rejects.toMatchObject({
      code: "schema_unreleased",
      detail: expect.stringContaining("migrations/0001_roles.sql"),
      hint: expect.stringContaining("Make a new database"),
    });
    expect(await all(db.superuserUrl, "select count(*)::int as n from headroom.recreatables")).toEqual([{ n: 0 }]);
  });
});
