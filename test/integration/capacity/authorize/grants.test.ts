/**
 * What the catalogue says about who may do what in the workflow. The lists are complete in both directions: an unlisted grant is a failure,
 * and so is a listed one that is missing. Tested on a database with a platform's default privileges, and on one whose owner's default
 * privileges were tampered with before it was migrated.
 */
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { createEmptyDatabase, createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../outbox/queries.ts";
import {
  asCaller,
  inner,
  insertable,
  mayExecute,
  ofOneMember,
  ofOversight,
  ofTriggers,
  policies,
  underViews,
  unreadable,
  views,
} from "./grants-table.ts";

const gatewayRoles = ["anon", "authenticated", "service_role", "authenticator", "headroom_gateway"];

/**
 * Our objects, wherever they are: the schemas of the directory, the workflow and the inbound layer, and in public what belongs to the
 * owner.
 */
const ours = (owner: string): string =>
  `(n.nspname in ('directory', 'notify', 'capacity', 'provisioning', 'billing', 'inbound') or n.nspname = 'public' and ${owner} = 'headroom_owner'::regrole)`;

const sorted = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(lists).map(([role, names]) => [role, names.toSorted()]));

describe.each(POSTGRES_VERSIONS)("grants of the workflow on PostgreSQL %i", async (version) => {
  const template = await createTestDatabase({ version });
  const hostile = await createEmptyDatabase(version);
  const hostilePool = new Pool({ connectionString: hostile.superuserUrl, max: 1 });

  beforeAll(async () => {
    const everybody =
      "public, anon, authenticated, service_role, headroom_ingest, headroom_executor, headroom_control, headroom_auditor";
    for (const what of ["tables", "functions", "sequences"]) {
      await hostilePool.query(`alter default privileges for role headroom_owner grant all on ${what} to ${everybody}`);
      await hostilePool.query(
        `alter default privileges for role headroom_owner in schema public grant all on ${what} to ${everybody}`,
      );
    }
    await withConnection(hostile.url, (client) => migrate(client));
  });
  afterAll(async () => {
    await hostilePool.end();
    await hostile[Symbol.asyncDispose]();
  });

  describe.each([
    ["a platform's default privileges", () => template.superuser.pool],
    ["default privileges that give everything to everybody", () => hostilePool],
  ])("with %s", (_what, database) => {
    test("functions are executable by exactly those who are listed", async () => {
      const grants = await rowsOf<{ grantee: string; name: string; grantable: boolean }>(
        database(),
        `select coalesce(r.rolname, 'public') as grantee, format('%s.%s', n.nspname, p.proname) as name, x.is_grantable as grantable
           from pg_proc p join pg_namespace n on n.oid = p.pronamespace
          cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x left join pg_roles r on r.oid = x.grantee
          where ${ours("p.proowner")} and x.grantee <> p.proowner`,
      );
      const found: Record<string, string[]> = {};
      for (const { grantee, name } of grants) (found[grantee] ??= []).push(name);
      expect(sorted(found)).toEqual(sorted(mayExecute));
      expect(grants.filter((grant) => grant.grantable)).toEqual([]);
    });

    test("tables and views are readable by exactly the listed roles, and only what is listed is written to", async () => {
      const relations = await rowsOf<{ name: string; owner: string; kind: string; grants: string[] }>(
        database(),
        `select format('%s.%s', n.nspname, c.relname) as name, c.relowner::regrole::text as owner, c.relkind as kind,
                coalesce((select array_agg(format('%s:%s', coalesce(r.rolname, 'public'), x.privilege_type) order by r.rolname, x.privilege_type)
                   from aclexplode(c.relacl) x left join pg_roles r on r.oid = x.grantee where x.grantee <> c.relowner), '{}') as grants
           from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where ${ours("c.relowner")} and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') order by 1`,
      );
      expect(relations.filter((relation) => relation.owner !== "headroom_owner")).toEqual([]);
      expect(relations.filter((relation) => relation.kind === "v").map((relation) => relation.name)).toEqual([
        ...inner,
        ...views.map((name) => `public.${name}`),
      ]);
      for (const { name, kind, grants } of relations) {
        const readers = kind === "S" || unreadable.includes(name) ? [] : ["headroom_auditor", "headroom_control"];
        const forMembers = kind === "v" && !ofOversight.includes(name) && !unreadable.includes(name);
        if (forMembers || underViews.includes(name)) readers.push("authenticated", "service_role");
        const writers = (insertable[name] ?? []).map((role) => `${role}:INSERT`);
        expect([name, grants]).toEqual([
          name,
          [...(ofOneMember[name] ?? readers).map((role) => `${role}:SELECT`), ...writers].toSorted(),
        ]);
      }
    });

    test("no column is granted separately from its table", async () => {
      const columns = await rowsOf(
        database(),
        `select a.attrelid::regclass from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
          where ${ours("c.relowner")} and a.attacl is not null`,
      );
      expect(columns).toEqual([]);
    });

    test("the private schema is open to operators, auditors and the executor, and nobody may create in it", async () => {
      const schema = await oneOf(
        database(),
        `select array_agg(format('%s:%s', coalesce(r.rolname, 'public'), x.privilege_type) order by r.rolname, x.privilege_type) as grants
           from pg_namespace n cross join aclexplode(n.nspacl) x left join pg_roles r on r.oid = x.grantee
          where n.nspname = 'capacity' and x.grantee <> n.nspowner`,
      );
      expect(schema).toEqual({
        grants: ["headroom_auditor:USAGE", "headroom_control:USAGE", "headroom_executor:USAGE"],
      });
    });

    test.each(gatewayRoles)("%s reaches nothing of the engine, nor the private schema", async (role) => {
      const reach = await oneOf(
        database(),
        `select (select count(*) from pg_namespace n
                  where n.nspname in ('headroom', 'outbox', 'webhooks', 'payments', 'ledger', 'directory', 'notify', 'capacity', 'provisioning', 'inbound') and has_schema_privilege($1, n.oid, 'usage, create')) as schemas,
                (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where n.nspname in ('headroom', 'outbox', 'webhooks', 'payments', 'ledger') and c.relkind in ('r', 'p', 'v')
                    and has_table_privilege($1, c.oid, 'select, insert, update, delete, truncate, references, trigger')) as tables,
                (select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                  where n.nspname in ('headroom', 'outbox', 'webhooks', 'payments', 'ledger') and has_function_privilege($1, p.oid, 'execute')) as functions,
                array(select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where ${ours("c.relowner")} and c.relkind in ('r', 'p', 'v')
                    and has_table_privilege($1, c.oid, 'insert, update, delete, truncate, references, trigger')) as writable,
                (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where ${ours("c.relowner")} and case when c.relkind = 'S' then has_sequence_privilege($1, c.oid, 'usage, select, update') end) as sequences`,
        [role],
      );
      const writable = Object.keys(insertable).filter((name) => insertable[name]?.includes(role));
      const written = writable.map((name) => name.replace(/^public[.]/, ""));
      expect(reach).toEqual({ schemas: 0, tables: 0, functions: 0, writable: written, sequences: 0 });
    });

    test.each(["authenticator", "headroom_gateway", "headroom_ingest"])(
      "%s alone may execute and read nothing",
      async (role) => {
        const reach = await oneOf(
          database(),
          `select (select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                  where ${ours("p.proowner")} and has_function_privilege($1, p.oid, 'execute')) as functions,
                (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where ${ours("c.relowner")} and c.relkind in ('r', 'p', 'v') and has_table_privilege($1, c.oid, 'select')) as tables`,
          [role],
        );
        expect(reach).toEqual({ functions: 0, tables: 0 });
      },
    );
  });

  const database = template.superuser.pool;

  test("every function belongs to the owner and has a pinned search_path; definers are exactly those that some role may execute, with one exception, and those that a trigger calls", async () => {
    const functions = await rowsOf<{ name: string; owner: string; pinned: boolean; definer: boolean }>(
      database,
      `select format('%s.%s', n.nspname, p.proname) as name, p.proowner::regrole::text as owner, p.prosecdef as definer,
              coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false) as pinned
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${ours("p.proowner")}`,
    );
    expect(functions.length).toBeGreaterThan(80);
    expect(functions.filter((f) => f.owner !== "headroom_owner")).toEqual([]);
    expect(functions.filter((f) => !f.pinned).map((f) => f.name)).toEqual([]);
    const granted = new Set(Object.values(mayExecute).flat());
    const definers = new Set([...granted, ...ofTriggers].filter((name) => name !== asCaller));
    expect(functions.filter((f) => f.definer !== definers.has(f.name)).map((f) => f.name)).toEqual([]);
    expect(functions.map((f) => f.name)).toEqual(expect.arrayContaining([...granted]));
  });

  test("no function has two signatures: an overload would be a way around a changed one", async () => {
    const twice = await rowsOf(
      database,
      `select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${ours("p.proowner")} group by n.nspname, p.proname having count(*) > 1`,
    );
    expect(twice).toEqual([]);
  });

  test.each([
    "headroom.get_secret",
    "headroom.open_secret",
    "headroom.seal_secret",
    "headroom.open_box",
    "headroom.register_hooks",
    "capacity.apply",
    "capacity.decide",
    "capacity.load_context",
    "capacity.context_of",
    "capacity.acting",
    "directory.caller",
    "capacity.new_confirmation_token",
    "capacity.marking_key",
    "capacity.marks_of",
    "directory.member_for_slack",
    "capacity.find_confirmation",
  ])("%s is executable by nobody but its owner", async (name) => {
    const who = await rowsOf(
      database,
      `select r.rolname from pg_roles r join pg_proc p on format('%s.%s', p.pronamespace::regnamespace, p.proname) = $1
          where has_function_privilege(r.oid, p.oid, 'execute')
            and not r.rolsuper and not pg_has_role(r.oid, 'headroom_owner', 'member')`,
      [name],
    );
    expect(who).toEqual([]);
  });

  test("every table has row-level security, for reading only and with the listed policies", async () => {
    const tables = await rowsOf<{ name: string; enabled: boolean; policies: Record<string, string> | null }>(
      database,
      `select c.oid::regclass::text as name, c.relrowsecurity as enabled,
              (select jsonb_object_agg(p.polname || case when p.polcmd <> 'r' or p.polwithcheck is not null or not p.polpermissive then ' (not for reading)' else '' end,
                        (select string_agg(r.rolname, ',' order by r.rolname) from unnest(p.polroles) u(oid) left join pg_roles r on r.oid = u.oid))
                 from pg_policy p where p.polrelid = c.oid) as policies
         from pg_class c where c.relnamespace::regnamespace::text in ('capacity', 'directory', 'notify', 'provisioning', 'billing', 'inbound')
          and c.relkind in ('r', 'p') order by 1`,
    );
    expect(tables.length).toBeGreaterThan(14);
    for (const { name, enabled, policies: found } of tables) {
      const { members: _members, ...others } = policies;
      const { machines: _machines, ...ofOperators } = others;
      const wanted = underViews.includes(name) ? policies : name.startsWith("inbound.") ? ofOperators : others;
      expect([name, enabled, found]).toEqual([name, true, wanted]);
    }
    // By the catalogue, because on this server, as on Supabase, policies do not apply to machines.
    const ofMachines = await rowsOf(
      database,
      "select distinct pg_get_expr(polqual, polrelid) as condition from pg_policy where polname = 'machines'",
    );
    expect(ofMachines).toEqual([{ condition: "( SELECT directory.reader_key_valid() AS reader_key_valid)" }]);
  });

  test("every view of the API runs with the caller's rights", async () => {
    const bare = await rowsOf(
      database,
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and ${ours("c.relowner")} and c.relkind in ('v', 'm')
          and not coalesce('security_invoker=true' = any (c.reloptions), false)`,
    );
    expect(bare).toEqual([]);
  });

  test("the gateway inherits nothing, and none of our roles bypasses row-level security", async () => {
    const roles = await rowsOf(
      database,
      String.raw`select rolname, rolinherit from pg_roles
         where rolname like 'headroom\_%' and (rolcanlogin or rolsuper or rolbypassrls or rolcreaterole or rolname = 'headroom_gateway')`,
    );
    expect(roles).toEqual([{ rolname: "headroom_gateway", rolinherit: false }]);
  });

  test("pgcrypto is out of the exposed schema", async () => {
    expect(
      await rowsOf(
        database,
        "select n.nspname as name from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pgcrypto'",
      ),
    ).toEqual([{ name: "extensions" }]);
  });
});
