/** The test databases themselves: what other tests rely on without checking. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { createEmptyDatabase, createTestDatabase, POSTGRES_VERSIONS, type TestRole } from "../../helpers/database.ts";

describe.each(POSTGRES_VERSIONS)("a test database on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("is of that version and holds the migrated schema", async () => {
    const answer = await db.pool.query(
      "select current_setting('server_version_num')::int / 10000 as major, to_regnamespace('outbox') is not null as there",
    );
    expect(answer.rows).toEqual([{ major: version, there: true }]);
  });

  test("belongs to a role that is not a superuser", async () => {
    const answer = await db.pool.query(
      "select rolname, rolsuper, rolcreaterole from pg_roles where oid = (select datdba from pg_database where datname = current_database())",
    );
    expect(answer.rows).toEqual([{ rolname: "migrator", rolsuper: false, rolcreaterole: true }]);
  });

  test("has what was granted on the template itself", async () => {
    const grantsOn = `select a.privilege_type, a.grantee from pg_database d cross join aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
        where d.datname = $1 order by 1, 2`;
    const [mine, templates] = await Promise.all([
      db.superuser.pool.query(grantsOn, [db.name]),
      db.superuser.pool.query(grantsOn, ["headroom_template"]),
    ]);
    expect(mine.rows).toEqual(templates.rows);
  });

  test.each<TestRole>([
    "headroom_ingest",
    "headroom_executor",
    "headroom_control",
    "headroom_auditor",
    "headroom_owner",
  ])("lets a member of %s log in, and of no other role of ours", async (role) => {
    const answer = await db
      .as(role)
      .pool.query<{ role: string }>(
        String.raw`select rolname as role from pg_roles where rolname like 'headroom\_%' and pg_has_role(oid, 'member')`,
      );
    expect(answer.rows).toEqual([{ role }]);
  });

  test("has Supabase's default privileges planted for the migrating role", async () => {
    await using empty = await createEmptyDatabase(version);
    const client = new Client({ connectionString: empty.url });
    await client.connect();
    await client.query(
      "create function public.f() returns int language sql as 'select 1'; revoke all on function public.f from public",
    );
    const answer = await client.query("select has_function_privilege('anon', 'public.f()', 'execute') as favoured");
    await client.end();
    expect(answer.rows).toEqual([{ favoured: true }]);
  });

  test("reports when a session is blocked", async () => {
    const [first, second] = await db.twoConnections();
    await first.query("begin; select pg_advisory_xact_lock(1)");
    await expect(db.waitUntilBlocked(second, 50)).rejects.toThrow("not blocked");
    const blocked = second.query("select pg_advisory_xact_lock(1)");
    await db.waitUntilBlocked(second);
    await first.query("commit");
    await blocked;
  });
});

describe("a connection of a test that fails", async () => {
  const db = await createTestDatabase();

  test.fails("keeps its locks while the test runs", async () => {
    const [holder, waiter] = await db.twoConnections();
    await holder.query("select pg_advisory_lock(1)");
    waiter.query("select pg_advisory_lock(1)").catch(() => undefined);
    await db.waitUntilBlocked(waiter);
    expect.fail("while both connections are busy");
  });

  test("holds up no other test", async () => {
    await (await db.connect()).query("set lock_timeout = '10s'; select pg_advisory_lock(1)");
  });
});

test("a connection that is left open fails the test that left it", async () => {
  const empty = await createEmptyDatabase();
  const leaked = new Client({ connectionString: empty.url, application_name: "the leak" });
  leaked.on("error", () => undefined);
  await leaked.connect();
  await expect(empty[Symbol.asyncDispose]()).rejects.toThrow("the leak");
  await leaked.end().catch(() => undefined);
});

test("what fails may be awaited a moment later", async () => {
  const refused = Promise.reject(new Error("refused"));
  await nextTurn();
  await expect(refused).rejects.toThrow("refused");
});
