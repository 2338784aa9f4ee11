/**
 * What the catalogue says about who may do what. The lists are complete in both directions: an unlisted grant is a failure, and so is a
 * listed one that is missing. The servers of these tests have a platform's default privileges planted, which give everything to its
 * gateway's roles.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../harness.ts";

const reading = [
  "outbox.count_dead",
  "outbox.count_retries",
  "outbox.credential_status",
  "outbox.destination_status",
  "outbox.held_locks",
  "outbox.inspect",
  "outbox.list_changed_settings",
  "outbox.list_dead",
  "outbox.list_retries",
  "outbox.list_streams",
  "outbox.partition_status",
  "outbox.rail_status",
  "outbox.status",
  "outbox.ungranted",
  "outbox.verify_keys",
  "outbox.verify_lanes",
  "outbox.verify_order",
  "webhooks.destination_status",
  "webhooks.kept_in_vault",
  "webhooks.list_endpoints",
];

const mayExecute: Readonly<Record<string, readonly string[]>> = {
  headroom_ingest: ["outbox.enqueue", "outbox.enqueue_many", "payments.enqueue_payment_outbox"],
  headroom_executor: [
    "outbox.claim",
    "outbox.credential_status",
    "outbox.destination_status",
    "outbox.ensure_partitions",
    "outbox.fill_binds",
    "outbox.gc",
    "outbox.held_locks",
    "outbox.list_changed_settings",
    "outbox.list_streams",
    "outbox.next_due",
    "outbox.note_relay",
    "outbox.partition_status",
    "outbox.rail_credentials",
    "outbox.rail_status",
    "outbox.reap",
    "outbox.register_rail",
    "outbox.settle",
    "outbox.start_relay",
    "outbox.status",
    "outbox.stop_relay",
    "outbox.sweep",
    "outbox.ungranted",
    "webhooks.endpoint_for_relay",
    "webhooks.endpoint_gone",
    "webhooks.kept_in_vault",
    "webhooks.raise_alerts",
  ],
  headroom_control: [
    ...reading,
    "headroom.list_secrets",
    "headroom.remove_secret",
    "headroom.reseal_secrets",
    "headroom.set_secret",
    "headroom.switch_sealing_key",
    "outbox.change_stream",
    "outbox.clear_destination",
    "outbox.create_stream",
    "outbox.erase_payload",
    "outbox.grant_rail",
    "outbox.limit_destination",
    "outbox.put_stream",
    "outbox.redrive",
    "outbox.register_rail",
    "outbox.reset_limits",
    "outbox.reset_stream",
    "outbox.resolve_dead",
    "outbox.retry_now",
    "outbox.skip",
    "webhooks.disable_endpoint",
    "webhooks.enable_endpoint",
    "webhooks.list_alerts",
    "webhooks.ping_endpoint",
    "webhooks.put_alert",
    "webhooks.put_endpoint",
    "webhooks.remove_alert",
    "webhooks.remove_endpoint",
    "webhooks.replay_envelopes",
    "webhooks.rotate_endpoint_secret",
  ],
  headroom_auditor: reading,
};

const executorReads = ["attempts", "destinations", "pending", "pending_unordered", "rails", "relays", "streams"];
const secrets = ["webhooks.alerts", "webhooks.endpoint_secrets"];
const hiddenFromAuditors = [
  ...secrets,
  "outbox.lane_positions",
  "outbox.lanes",
  "payments.participant_outbox_sequences",
];

/** Applications publish events here; of other publishers' events they read only the outcome. */
const publishedInto = ["ledger.outbox_ledger", "payments.outbox_transfers"];
const readByPublishers = ["created_at", "deliveries", "id", "retry_count", "sent_at", "status"];

const ownSchemas = "('headroom', 'outbox', 'webhooks', 'payments', 'ledger')";

describe.each(POSTGRES_VERSIONS)("privileges on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version, template: "whole" });
  const superuser = db.superuser.pool;

  beforeAll(async () => {
    // Partitions that a running relay makes later must have the same rights as those of the migration.
    await rowsOf(db.as("headroom_executor").pool, "select outbox.ensure_partitions(90)");
  });

  test("a caller's temporary type does not take precedence over the built-in one inside a definer function", async () => {
    const name = `trap-${Date.now()}`;
    await rowsOf(superuser, "select outbox.create_stream($1)", [name]);
    await rowsOf(superuser, "select outbox.register_rail('trap', 'idempotent', 1000)");
    const client = await db.as("headroom_ingest").connect();
    await client.query(
      "create function pg_temp.spring(value pg_catalog.text) returns boolean language plpgsql as $$ begin raise exception 'sprung'; end $$",
    );
    await client.query("create domain pg_temp.text as pg_catalog.text check (pg_temp.spring(value))");
    const [row] = await rowsOf<{ created: boolean }>(
      client,
      "select created from outbox.enqueue($1, 'k', 'i', 'x', 'trap', '{}')",
      [name],
    );
    expect(row).toEqual({ created: true });
  });

  test("every function belongs to the owner, and has a pinned search_path", async () => {
    const functions = await rowsOf<{ name: string; owner: string; pinned: boolean; definer: boolean; kind: string }>(
      superuser,
      `select format('%s.%s', n.nspname, p.proname) as name, p.proowner::regrole::text as owner, p.prosecdef as definer, p.prokind as kind,
              coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false) as pinned
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ${ownSchemas}`,
    );
    expect(functions.length).toBeGreaterThan(40);
    expect(functions.filter((f) => f.owner !== "headroom_owner")).toEqual([]);
    expect(functions.filter((f) => !f.pinned)).toEqual([]);
    const granted = new Set(Object.values(mayExecute).flat());
    // Triggers run without anybody's right to execute them.
    expect(
      functions
        .filter((f) => f.definer !== granted.has(f.name))
        .map((f) => f.name)
        .toSorted(),
    ).toEqual(["payments.bump_participant_outbox_seq", "webhooks.address_envelopes", "webhooks.insert_envelope"]);
  });

  test("no function has two signatures: an overload would be a way around a changed one", async () => {
    const twice = await rowsOf(
      superuser,
      `select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ${ownSchemas} group by n.nspname, p.proname having count(*) > 1`,
    );
    expect(twice).toEqual([]);
  });

  test("functions are executable by exactly the listed roles", async () => {
    const grants = await rowsOf<{ grantee: string; name: string; grantable: boolean }>(
      superuser,
      `select coalesce(r.rolname, 'public') as grantee, format('%s.%s', n.nspname, p.proname) as name, x.is_grantable as grantable
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x left join pg_roles r on r.oid = x.grantee
        where n.nspname in ${ownSchemas} and x.grantee <> p.proowner`,
    );
    const found: Record<string, string[]> = {};
    for (const { grantee, name } of grants) (found[grantee] ??= []).push(name);
    for (const list of Object.values(found)) list.sort();
    expect(found).toEqual(
      Object.fromEntries(Object.entries(mayExecute).map(([role, names]) => [role, names.toSorted()])),
    );
    expect(grants.filter((grant) => grant.grantable)).toEqual([]);
  });

  test("tables, views and partitions are readable by exactly the listed roles, and writable by nobody except through event views", async () => {
    const relations = await rowsOf<{ name: string; owner: string; kind: string; archive: boolean; grants: string[] }>(
      superuser,
      `select format('%s.%s', n.nspname, c.relname) as name, c.relowner::regrole::text as owner, c.relkind as kind,
              c.oid in (select relid from pg_partition_tree('outbox.attempts')) as archive,
              coalesce((select array_agg(format('%s:%s', coalesce(r.rolname, 'public'), x.privilege_type) order by r.rolname, x.privilege_type)
                 from aclexplode(c.relacl) x left join pg_roles r on r.oid = x.grantee where x.grantee <> c.relowner), '{}') as grants
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ${ownSchemas} and c.relkind in ('r', 'p', 'v', 'S', 'm', 'f')`,
    );
    expect(relations.filter((relation) => relation.owner !== "headroom_owner")).toEqual([]);
    expect(relations.filter((relation) => relation.archive).length).toBeGreaterThan(100);
    for (const relation of relations) {
      const [schema, table] = relation.name.split(".");
      const readers: string[] = [];
      if (schema !== "headroom" && relation.kind !== "S") {
        if (!hiddenFromAuditors.includes(relation.name)) readers.push("headroom_auditor:SELECT");
        if (!secrets.includes(relation.name)) readers.push("headroom_control:SELECT");
        if (publishedInto.includes(relation.name)) readers.push("headroom_ingest:INSERT");
        if (relation.archive || (schema === "outbox" && executorReads.includes(table!)))
          readers.push("headroom_executor:SELECT");
      }
      expect([relation.name, relation.grants]).toEqual([relation.name, readers.toSorted()]);
    }
  });

  test("a partition that is made under a platform's default privileges belongs only to us", async () => {
    // The owner makes the partitions, and a platform may plant privileges for the owner as well.
    const owner = "alter default privileges for role headroom_owner";
    const everybody = "anon, authenticated, service_role, authenticator";
    await rowsOf(superuser, `${owner} grant all on tables to ${everybody}, headroom_ingest, headroom_executor`);
    const made = await oneOf<{ n: number }>(
      db.as("headroom_executor").pool,
      "select outbox.ensure_partitions(120) as n",
    );
    expect(made.n).toBeGreaterThan(0);
    await rowsOf(superuser, `${owner} revoke all on tables from ${everybody}, headroom_ingest, headroom_executor`);
    const grants = await rowsOf(
      superuser,
      `select distinct format('%s:%s', coalesce(r.rolname, 'public'), x.privilege_type) as grant
         from pg_partition_tree('outbox.attempts') t join pg_class c on c.oid = t.relid
        cross join aclexplode(c.relacl) x left join pg_roles r on r.oid = x.grantee where x.grantee <> c.relowner order by 1`,
    );
    const readers = ["auditor", "control", "executor"].map((role) => ({ grant: `headroom_${role}:SELECT` }));
    expect(grants).toEqual(readers);
  });

  test("no column is granted separately from its table, except those that show publishers an event's outcome", async () => {
    const columns = await rowsOf(
      superuser,
      `select a.attrelid::regclass::text as name, a.attname::text as column, format('%s:%s', x.grantee::regrole, x.privilege_type) as grant
         from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace cross join aclexplode(a.attacl) x
        where n.nspname in ${ownSchemas} order by 1, 2`,
    );
    expect(columns).toEqual(
      publishedInto.flatMap((name) =>
        readByPublishers.map((column) => ({ name, column, grant: "headroom_ingest:SELECT" })),
      ),
    );
  });

  test("schemas are open to the roles that need them, and nobody may create in them", async () => {
    const schemas = await rowsOf<{ name: string; grants: string[] | null }>(
      superuser,
      `select n.nspname as name, (select array_agg(format('%s:%s', coalesce(r.rolname, 'public'), x.privilege_type) order by r.rolname, x.privilege_type)
                 from aclexplode(n.nspacl) x left join pg_roles r on r.oid = x.grantee where x.grantee <> n.nspowner) as grants
         from pg_namespace n where n.nspname in ${ownSchemas} order by 1`,
    );
    expect(schemas).toEqual([
      { name: "headroom", grants: ["headroom_control:USAGE"] },
      { name: "ledger", grants: ["auditor", "control", "ingest"].map((role) => `headroom_${role}:USAGE`) },
      { name: "outbox", grants: ["auditor", "control", "executor", "ingest"].map((role) => `headroom_${role}:USAGE`) },
      { name: "payments", grants: ["auditor", "control", "ingest"].map((role) => `headroom_${role}:USAGE`) },
      { name: "webhooks", grants: ["auditor", "control", "executor"].map((role) => `headroom_${role}:USAGE`) },
    ]);
  });

  test.each(["anon", "authenticated", "service_role", "authenticator"])(
    "%s can neither see nor call anything of ours",
    async (role) => {
      const reach = await oneOf(
        superuser,
        `select (select count(*)::int from pg_namespace n where n.nspname in ${ownSchemas} and has_schema_privilege($1, n.oid, 'usage, create')) as schemas,
              (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where n.nspname in ${ownSchemas} and c.relkind in ('r', 'p', 'v')
                  and has_table_privilege($1, c.oid, 'select, insert, update, delete, truncate, references, trigger')) as tables,
              (select count(*)::int from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                where n.nspname in ${ownSchemas} and has_function_privilege($1, p.oid, 'execute')) as functions`,
        [role],
      );
      expect(reach).toEqual({ schemas: 0, tables: 0, functions: 0 });
    },
  );

  test.each(["outbox", "capacity", "public"])(
    "what the owner creates later in %s is executable by nobody else",
    async (schema) => {
      const owner = await db.as("headroom_owner").connect();
      await owner.query("begin");
      await owner.query("set local role headroom_owner");
      await owner.query(`create function ${schema}.made_later() returns integer language sql as 'select 1'`);
      const [made] = await rowsOf<{ who: string[] }>(
        owner,
        `select array_agg(coalesce(r.rolname::text, 'public')) as who from pg_proc p
        cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x left join pg_roles r on r.oid = x.grantee
        where p.proname = 'made_later'`,
      );
      await owner.query("rollback");
      await owner.end();
      expect(made!.who).toEqual(["headroom_owner"]);
    },
  );

  test("none of our roles logs in, is a superuser, or bypasses row-level security", async () => {
    const roles = await rowsOf(
      superuser,
      "select rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname like 'headroom\\_%' order by 1",
    );
    expect(roles).toHaveLength(6);
    expect(
      roles.every((role) =>
        Object.values(role as object)
          .slice(1)
          .every((flag) => flag === false),
      ),
    ).toBe(true);
  });

  test("every partition of the archive refuses changes by its own trigger", async () => {
    // 58: before update, delete and truncate, once for each statement.
    const bare = await rowsOf(
      superuser,
      `select relid::regclass from pg_partition_tree('outbox.attempts')
        where not exists (select from pg_trigger t where t.tgrelid = relid and t.tgname = 'append_only' and t.tgenabled = 'O' and t.tgtype = 58
                             and t.tgqual is null and t.tgfoid = 'outbox.refuse_change'::regproc)`,
    );
    expect(bare).toEqual([]);
    for (const role of ["headroom_owner", "postgres"] as const) {
      for (const statement of [
        "update outbox.attempts set latency_ms = 1",
        "delete from outbox.attempts",
        "truncate outbox.attempts",
      ]) {
        await expect(rowsOf(db.as(role).pool, statement)).rejects.toMatchObject({
          detail: expect.stringMatching(/^append_only/),
        });
      }
    }
  });

  test("sealed secrets and their key have row-level security without a policy: a grant by mistake shows nothing", async () => {
    const closed = await rowsOf(
      superuser,
      `select c.relname as name from pg_class c
        where c.oid in ('headroom.boxes'::regclass, 'headroom.sealing_key'::regclass) and c.relrowsecurity
          and not exists (select from pg_policy p where p.polrelid = c.oid) order by 1`,
    );
    expect(closed).toEqual([{ name: "boxes" }, { name: "sealing_key" }]);
  });
});
