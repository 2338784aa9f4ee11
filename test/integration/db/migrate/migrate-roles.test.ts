/** Roles belong to the cluster, not to the database: these tests need clusters in which none of ours exists yet. */
import { afterAll, describe, expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import {
  createSupabaseDatabase,
  migratorRole,
  everyVersion,
  startBareCluster,
  testPassword,
  urlOf,
} from "../../../helpers/clusters.ts";
import { createTestDatabase } from "../../../helpers/database.ts";

const migrateAs = (port: number, database: string, role: string) =>
  withConnection(urlOf(port, database, role), (client) => migrate(client));

describe.each(everyVersion)("roles on PostgreSQL %i", async (version) => {
  const cluster = await startBareCluster(version);
  afterAll(() => cluster.stop());
  const superuser = (sql: string) => withConnection(cluster.url, (client) => client.query(sql));

  test("a role that may not create roles is told so, before anything happens", async () => {
    await superuser(`create role lowly login password '${testPassword}'`);
    await superuser("create database of_lowly owner lowly");
    await expect(migrateAs(cluster.port, "of_lowly", "lowly")).rejects.toMatchObject({
      code: "not_allowed",
      hint: expect.stringContaining("createrole"),
    });
    const ours = await superuser(String.raw`select rolname from pg_roles where rolname like 'headroom\_%'`);
    expect(ours.rows).toEqual([]);
  });

  test("databases of one cluster that are migrated at the same moment all succeed", async () => {
    const names = ["race_1", "race_2", "race_3", "race_4"];
    for (const name of names) await createSupabaseDatabase(cluster, name);
    const results = await Promise.all(names.map((name) => migrateAs(cluster.port, name, migratorRole)));
    expect(new Set(results.map((result) => result.version)).size).toBe(1);
    expect(results.every((result) => result.applied.length > 0)).toBe(true);
  });

  test("a second migrating role gets the rights where the server allows it, and otherwise the remedy", async () => {
    await superuser(`create role second login createrole createdb password '${testPassword}'`);
    await superuser("create database of_second owner second");
    if (version >= 16) {
      await expect(migrateAs(cluster.port, "of_second", "second")).rejects.toMatchObject({
        code: "not_allowed",
        hint: expect.stringContaining('grant headroom_owner to "second" with admin option'),
      });
      await withConnection(urlOf(cluster.port, "postgres", migratorRole), (client) =>
        client.query('grant headroom_owner to "second" with admin option'),
      );
    }
    expect((await migrateAs(cluster.port, "of_second", "second")).applied.length).toBeGreaterThan(0);
  });

  test("a second role can continue with a database that the first one migrated", async () => {
    expect(await migrateAs(cluster.port, "race_1", "second")).toMatchObject({ applied: [], reapplied: [] });
  });
});

describe.each(everyVersion)("the product's own schema on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("needs nothing more after it was migrated", async () => {
    const result = await withConnection(db.url, (client) => migrate(client));
    expect(result).toMatchObject({ applied: [], reapplied: [], missing: [] });
  });

  test("can be applied again as a whole, as an upgrade would", async () => {
    await db.superuser.pool.query("update headroom.recreatables set checksum = 'outdated'");
    const result = await withConnection(db.url, (client) => migrate(client));
    expect(result.reapplied.length).toBeGreaterThan(0);
    expect(await withConnection(db.url, (client) => migrate(client))).toMatchObject({ reapplied: [] });
  });
});
