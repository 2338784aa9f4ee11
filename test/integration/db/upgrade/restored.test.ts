/**
 * What a restore leaves: objects of ours with another owner, and missing rights. pg_restore itself does not come from npm, so its result is
 * made here in SQL.
 */
import { describe, expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { listMisowned, migrate } from "../../../../src/db/migrate.ts";
import { createTestDatabase, everyVersion } from "../../../helpers/database.ts";
import { migratorRole } from "../../../helpers/clusters.ts";
import { headroom } from "../../cli/harness.ts";

const parts = ["engine", "product"] as const;

/** As after pg_restore by the migrating role: in public the change of owner failed, and the owner's objects there came last. */
const restored = `
do $$
declare v_what text;
begin
  for v_what in
    select format('routine %s', p.oid::regprocedure) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.proowner = 'headroom_owner'::regrole
    union all
    select format('table %s', c.oid::regclass) from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relowner = 'headroom_owner'::regrole and c.relkind = 'v'
    union all
    select format('type %s', t.oid::regtype) from pg_type t
     where t.typnamespace = 'public'::regnamespace and t.typowner = 'headroom_owner'::regrole and t.typtype = 'e'
  loop
    execute format('alter %s owner to ${migratorRole}', v_what);
  end loop;
end
$$`;

/** As after pg_restore --no-owner: everything belongs to the restoring role. */
const restoredWithoutOwners = `${restored};
do $$
declare v_what text;
begin
  for v_what in
    select format('schema %I', n.nspname) from pg_namespace n where n.nspowner = 'headroom_owner'::regrole
    union all
    select format('table %s', c.oid::regclass) from pg_class c
     where c.relowner = 'headroom_owner'::regrole and c.relkind in ('r', 'p', 'v')
    union all
    select format('routine %s', p.oid::regprocedure) from pg_proc p where p.proowner = 'headroom_owner'::regrole
    union all
    select format('type %s', t.oid::regtype) from pg_type t left join pg_class c on c.oid = t.typrelid
     where t.typowner = 'headroom_owner'::regrole and (t.typtype = 'e' or c.relkind = 'c')
  loop
    execute format('alter %s owner to ${migratorRole}', v_what);
  end loop;
end
$$`;

const ownersLeft = `
select count(*)::int as count from (
  select relowner as owner from pg_class where relnamespace::regnamespace::text = any ($1)
  union all select proowner from pg_proc where pronamespace::regnamespace::text = any ($1)
  union all select typowner from pg_type where typnamespace::regnamespace::text = any ($1)
  union all select nspowner from pg_namespace where nspname = any ($1) and nspname <> 'public'
) o where owner = '${migratorRole}'::regrole`;

describe.each(everyVersion)("a restored database, on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const again = (dryRun = false) => withConnection(db.url, (client) => migrate(client, { dryRun }));
  const doctor = async (url = db.url) => {
    const answer = JSON.parse((await headroom(["doctor", "--offline", "--json", "--database-url", url])).out) as {
      findings: { check: string; status: string; message: string; remedy?: string }[];
    };
    return answer.findings.find(({ check }) => check === "ownership");
  };
  const schemas = async (): Promise<string[]> =>
    (
      await db.superuser.pool.query<{ nspname: string }>(
        "select nspname::text from pg_namespace where nspname = 'public' or nspowner = 'headroom_owner'::regrole",
      )
    ).rows.map(({ nspname }) => nspname);
  const left = async (names: readonly string[]): Promise<number> =>
    (await db.superuser.pool.query<{ count: number }>(ownersLeft, [names])).rows[0]?.count ?? -1;

  test("objects in public that lost their owner are named by doctor, and taken back by migrate", async () => {
    expect(await doctor()).toMatchObject({ status: "ok" });
    await db.superuser.pool.query(restored);
    const found = await doctor();
    expect(found).toMatchObject({ status: "failure", remedy: expect.stringContaining("headroom migrate") });
    expect(found?.message).toContain(`belong to ${migratorRole} instead of headroom_owner`);
    expect(found?.message).toContain("table public.billing_balance");
    expect(await doctor(db.as("headroom_control").url)).toMatchObject({ status: "failure", message: found?.message });
    const owners = await withConnection(db.url, (client) => listMisowned(client, parts));
    expect((await again(true)).repaired.owners).toEqual(owners);
    expect((await again()).repaired.owners).toEqual(owners);
    expect(await left(["public"])).toBe(0);
    expect(await again()).toMatchObject({ reapplied: [], repaired: { owners: [], rights: [] } });
    expect(await doctor()).toMatchObject({ status: "ok" });
  });

  test("everything else is too, after a restore without owners", async () => {
    const ours = await schemas();
    await db.superuser.pool.query(restoredWithoutOwners);
    expect(await left(ours)).toBeGreaterThan(1_000);
    expect((await doctor())?.message).toContain("schema billing");
    await again();
    expect(await left(ours)).toBe(0);
    expect(await doctor()).toMatchObject({ status: "ok" });
  });

  test("a table of an application in public keeps its owner", async () => {
    await withConnection(db.url, (client) =>
      client.query("create table public.orders (id int); create type public.kind as enum ('a')"),
    );
    await withConnection(db.url, (client) =>
      client.query("create function public.notify(text) returns text language sql return $1"),
    );
    expect((await again()).repaired).toEqual({ owners: [], rights: [] });
    expect(await doctor()).toMatchObject({ status: "ok" });
  });

  test("missing and excess rights are named by doctor, and corrected by migrate", async () => {
    await db.superuser.pool.query(`
      revoke execute on function outbox.reap(integer) from headroom_executor;
      grant execute on function outbox.status() to public;
      revoke select on public.payments from authenticated`);
    const rights = [
      "missing: authenticated may select public.payments",
      "missing: headroom_executor may execute outbox.reap(integer)",
      "too much: public may execute outbox.status()",
    ];
    const found = await doctor();
    expect(found).toMatchObject({ status: "failure" });
    for (const right of rights) expect(found?.message).toContain(right);
    expect((await again()).repaired).toEqual({ owners: [], rights });
    expect((await again()).repaired.rights).toEqual([]);
    expect(await doctor()).toMatchObject({ status: "ok" });
  });

  test("a right that an operator gave a role of their own stays", async () => {
    const role = `grafana_${db.name}`;
    await db.superuser.pool.query(
      `create role ${role}; grant usage on schema outbox to ${role}; grant select on outbox.streams to ${role}`,
    );
    expect((await again()).repaired.rights).toEqual([]);
    await db.superuser.pool.query(`drop owned by ${role}; drop role ${role}`);
  });
});
