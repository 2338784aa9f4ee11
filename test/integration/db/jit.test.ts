/**
 * Postgres by default compiles plans whose estimated cost is high (jit = on), and before PostgreSQL 18 a method that a function has
 * switched off makes any plan look expensive. Plans are read through auto_explain, since the servers of the tests cannot compile.
 */
import { describe, expect, test } from "vitest";
import { Pool } from "pg";
import { withConnection } from "../../../src/db/connect.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { createGatewayDatabase } from "../../../src/http/database/gateway-database.ts";
import type { Rail } from "../../../src/contract/rail.ts";
import { createDrainer } from "../../../src/outbox/index.ts";
import { readBacklog, readInsight } from "../../../src/cli/commands/insights/views.ts";
import { prepareWorkspace, submitDelivered } from "../../../bench/approvals.ts";
import { createTestDatabase, everyVersion } from "../../helpers/database.ts";
import { urlOf } from "../../helpers/clusters.ts";
import { oneOf, rowsOf, type Queryable } from "../outbox/queries.ts";

/** The functions that are entrances. */
const entries = `
select p.oid::regprocedure::text as name, coalesce(p.proconfig @> '{jit=off}', false) as without_jit
  from pg_proc p
 where p.proowner = 'headroom_owner'::regrole
   and (p.prorettype = 'trigger'::regtype or exists (
         select from pg_roles r where r.oid <> p.proowner and not r.rolsuper and has_function_privilege(r.oid, p.oid, 'execute')
            and not pg_has_role(r.oid, p.proowner, 'member')))
 order by 1`;

interface Entry {
  readonly name: string;
  readonly without_jit: boolean;
}

/** It switches JIT off for the whole request, which a setting on the function would undo. */
const exempt = ["check_request()"];

async function compiling(db: Queryable): Promise<string[]> {
  const found = await rowsOf<Entry>(db, entries);
  expect(found.length).toBeGreaterThan(200);
  return found.filter((entry) => !entry.without_jit).map((entry) => entry.name);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Total Cost": number;
  readonly Plans?: readonly PlanNode[];
}

interface Explained {
  readonly "Query Text": string;
  readonly Plan: PlanNode;
  readonly Settings?: Readonly<Record<string, string>>;
}

/**
 * Superuser connections that log the plan of everything they run, inside functions too. What ran in one of our functions differs from what
 * was sent by its search_path.
 */
function explaining(url: string): { pool: Pool; all: Explained[]; inside: () => Explained[] } {
  const settings = { session_preload_libraries: "auto_explain", ...show };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new Pool({ connectionString: url, options: options.join(" ") });
  const all: Explained[] = [];
  pool.on("connect", (client) => {
    client.on("notice", ({ message }) => {
      const plan = /^duration: .* plan:\n(.*)$/s.exec(message ?? "")?.[1];
      if (plan !== undefined) all.push(JSON.parse(plan) as Explained);
    });
  });
  const inside = (): Explained[] =>
    all.filter((plan) => plan.Settings?.["search_path"]?.includes("pg_catalog, pg_temp"));
  return { pool, all, inside };
}

const show = {
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_settings": "on",
  "auto_explain.log_level": "notice",
} as const;

const compiled = (plans: readonly Explained[]): string[] =>
  plans.filter((plan) => plan.Settings?.["jit"] !== "off").map((plan) => plan["Query Text"]);

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

const send: Rail["send"] = () => ({ kind: "delivered", response: { ok: true, ts: "1767348000.000200" } });
const rails: readonly Rail[] = [
  { name: "slack", capability: "lookup", timeoutMs: 5_000, send, lookup: () => ({ kind: "absent" }) },
  { name: "email", capability: "blind", timeoutMs: 5_000, send },
  { name: "told", capability: "blind", timeoutMs: 5_000, send },
];

/** The cost that a switched-off method adds, before PostgreSQL 18. */
const penalty = 1e9;

/** The nodes that a plan gets its cost from. */
function penalized(plans: readonly Explained[]): string[] {
  const costly = plans
    .flatMap((plan) => nodesOf(plan.Plan))
    .filter(
      (node) => node["Total Cost"] >= penalty && (node.Plans ?? []).every((each) => each["Total Cost"] < penalty),
    );
  return [...new Set(costly.map((node) => `${node["Node Type"]} ${node["Relation Name"] ?? ""}`))].toSorted();
}

describe.each(everyVersion)("with jit as the server ships it, on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version, template: "whole" });

  test("it is on, and every entrance function switches it off", async () => {
    expect(await oneOf(db.superuser.pool, "show jit")).toEqual({ jit: "on" });
    expect(await compiling(db.superuser.pool)).toEqual(exempt);
  });

  test("a function that is replaced, or that another grant opens, gets the setting too", async () => {
    const { pool } = db.superuser;
    await pool.query(`alter function outbox.claim(integer, smallint, integer, integer, bigint, bigint, jsonb) reset jit;
      grant execute on function outbox.way_id(smallint, smallint, text) to headroom_auditor;
      delete from headroom.recreatables where path = 'functions/outbox/enqueue/enqueue.sql'`);
    expect((await compiling(pool)).length).toBe(3);
    const { reapplied } = await withConnection(db.url, (client) => migrate(client));
    expect(reapplied).toContain("functions/outbox/enqueue/enqueue.sql");
    expect(await compiling(pool)).toEqual(exempt);
  });

  test.each([
    "headroom_ingest",
    "headroom_executor",
    "headroom_control",
    "headroom_auditor",
    "authenticated",
    "service_role",
    "anon",
  ])("whatever %s may call runs plans without it", async (role) => {
    const { pool, inside } = explaining(db.superuserUrl);
    const client = await pool.connect();
    const calls = await rowsOf<{ call: string }>(
      client,
      `select format('%s(%s)', p.oid::regproc, (select string_agg('null::' || format_type(t.type, null), ', ' order by t.place)
                                                     from unnest(p.proargtypes) with ordinality t(type, place))) as call
           from pg_proc p
          where p.proowner = 'headroom_owner'::regrole and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
            and has_function_privilege($1, p.oid, 'execute') order by 1`,
      [role],
    );
    await client.query(`begin; set local statement_timeout = '10s'; set local role ${role}`);
    let entered = 0;
    for (const { call } of calls) {
      const before = inside().length;
      await client.query("savepoint called");
      // Most refuse missing input, and by then have looked something up.
      await client.query(`select ${call}`).catch(() => undefined);
      await client.query("rollback to called");
      if (inside().length > before) entered += 1;
    }
    await client.query("rollback");
    client.release();
    await pool.end();
    expect(entered).toBeGreaterThan(calls.length / 3);
    expect(compiled(inside())).toEqual([]);
  });

  test("requests over HTTP and insights read views without it", async () => {
    const gateway = createGatewayDatabase({
      url: urlOf(Number(new URL(db.url).port), db.name, "authenticator"),
      maxConnections: 1,
    });
    const session = { role: "service_role", claims: { role: "service_role" } } as const;
    const text = "select current_setting('jit') as jit, current_setting('role') as role";
    expect(await gateway.run(session, [{ text }])).toEqual([{ rows: [{ jit: "off", role: "service_role" }] }]);
    expect((await gateway.ask({ text: "show jit" })).rows).toEqual([{ jit: "on" }]);
    await gateway.close();

    const { pool, all } = explaining(db.superuserUrl);
    const client = await pool.connect();
    await readBacklog(client, "default");
    await readInsight(client, "time-in-state", "default", 30);
    const read = all.filter((plan) => plan["Query Text"].includes("from public.capacity_"));
    expect(read.map((plan) => plan.Settings?.["jit"])).toEqual(["off", "off"]);
    expect(await oneOf(client, "show jit")).toEqual({ jit: "on" });
    client.release();
    await pool.end();
  });

  test("an approval, its messages and their delivery do not use what they switched off", async () => {
    const arranging = await db.superuser.connect();
    await prepareWorkspace(arranging);
    // Slack's channels take a message a second, which is not waited for here.
    await arranging.query("update outbox.limits set min_interval_ms = 0");
    const id = await submitDelivered(arranging, db.superuserUrl);
    await arranging.end();
    const { pool, inside } = explaining(db.superuserUrl);
    const drainer = createDrainer({ pool, rails, streams: ["capacity", "notifications"] });
    await drainer.drain();
    // As often as the server tries before it caches a plan, and one more.
    for (let times = 0; times < 7; times += 1) {
      await pool.query("select outbox.enqueue('notifications', null, 'i', $1, 'told', '{}')", [times]);
      await pool.query("select public.notify('default', 'ann', $1, 'Done', 'All of it.')", [times]);
      await pool.query(
        "select public.create_capacity_request('ann', 'bob', 'infra', $1, '32XL', 4, 'us-east-1', null, 30, 1000)",
        ['{"name": "Acme"}'],
      );
      await pool.query("insert into payments.outbox_transfers (payload) values ($1)", [
        '{"specversion": "1.0", "id": "e", "source": "/s", "type": "t", "subject": "a", "data": {}}',
      ]);
    }
    await pool.query("select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'bob')", [id]);
    await pool.query("select public.apply_capacity_event($1, 'TECH_REVIEW_APPROVED', 'user', 'ida')", [id]);
    await pool.query(
      "select capacity.run_timers(100, 'worker'), notify.release(), notify.send_due(), notify.channel_figures()",
    );
    expect((await drainer.drain()).delivered).toBeGreaterThan(0);
    await drainer.close();
    await pool.query(
      "select outbox.reap(100), outbox.sweep(100), outbox.gc(100), outbox.status(), webhooks.raise_alerts()",
    );
    await pool.end();
    const plans = inside();
    expect(plans.length).toBeGreaterThan(1_000);
    expect(compiled(plans)).toEqual([]);
    // Tables of a few rows, without anything to search by.
    expect(penalized(plans)).toEqual(version < 18 ? ["Seq Scan claims", "Seq Scan relays", "Seq Scan swept_to"] : []);
  });
});
