/**
 * The metrics of the workflow, compared with the same figures computed from the events by hand; and a span of days is found by index.
 */
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { seedCapacity } from "../../../../scripts/seed-capacity/seed.ts";
import { applyEvent, createRequest, putPolicy, type RequestTerms } from "../../../../src/capacity/index.ts";
import { putGroup, putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../outbox/queries.ts";
import { memberSession, overHttp } from "../gateway.ts";

interface Event {
  readonly request_id: string;
  readonly event_type: string;
  readonly actor_type: string;
  readonly state_before: string;
  readonly state_after: string;
  readonly counts: boolean;
  /** Microseconds, so that no digit is lost. */
  readonly at: number;
  readonly day: string;
}

/** The samples of each line of a view, by the line's key. */
type Samples = Map<string, number[]>;

function put(samples: Samples, key: readonly unknown[], seconds: number): void {
  const text = key.join(" ");
  samples.set(text, [...(samples.get(text) ?? []), seconds]);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return low + (high - low) * (place - Math.floor(place));
}

interface Line {
  readonly n: number;
  readonly mean_seconds: number;
  readonly median_seconds: number;
  readonly p90_seconds: number;
  readonly longest_seconds: number;
}

function expectSame(lines: ReadonlyMap<string, Line>, samples: Samples): void {
  expect([...lines.keys()].toSorted()).toEqual([...samples.keys()].toSorted());
  for (const [key, values] of samples) {
    const line = lines.get(key);
    expect(line?.n).toBe(values.length);
    expect(line?.mean_seconds).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 3);
    expect(line?.median_seconds).toBeCloseTo(quantile(values, 0.5), 3);
    expect(line?.p90_seconds).toBeCloseTo(quantile(values, 0.9), 3);
    expect(line?.longest_seconds).toBeCloseTo(Math.max(...values), 3);
  }
}

describe.each(POSTGRES_VERSIONS)("the views on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const { pool } = db.as("headroom_auditor");
  let log: Event[][] = [];

  beforeAll(async () => {
    const client = await db.connect();
    // A second workspace, so that it matters whose events are read.
    for (const workspaceId of ["seed", "other"]) {
      await seedCapacity(client, { requests: 300, eventsPerRequest: 6, workspaceId, deliveries: false });
    }
    await client.query("analyze");
    const rows = await rowsOf<Event>(
      db.superuser.pool,
      `select request_id, event_type::text, actor_type::text, state_before::text, state_after::text,
              coalesce(payload -> 'counts' <> 'false', true) as counts, (extract(epoch from created_at) * 1000000)::bigint as at,
              to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day
         from capacity.events where workspace_id = 'seed' order by request_id, seq`,
    );
    log = [...Map.groupBy(rows, (row) => row.request_id).values()];
  });

  async function linesOf(view: string, key: readonly string[], count: string): Promise<Map<string, Line>> {
    const rows = await rowsOf<Line & Record<string, unknown>>(
      pool,
      `select *, ${count}::integer as n, to_char(day, 'YYYY-MM-DD') as on_day from public.${view} where workspace_id = 'seed'`,
    );
    return new Map(rows.map((row) => [[row["on_day"], ...key.map((name) => row[name])].join(" "), row]));
  }

  test("time in state is the time between entering and leaving it", async () => {
    const samples: Samples = new Map();
    for (const events of log) {
      let entered = events[0]?.at ?? 0;
      for (const event of events.slice(1)) {
        if (event.state_before === event.state_after) continue;
        put(samples, [event.day, event.state_before], (event.at - entered) / 1e6);
        entered = event.at;
      }
    }
    expectSame(await linesOf("capacity_time_in_state", ["state"], "stays"), samples);
  });

  test("approval latency counts approvals, not endorsements, and the second one as both", async () => {
    const samples: Samples = new Map();
    for (const events of log) {
      for (const event of events) {
        if (!event.event_type.endsWith("_APPROVED") || event.event_type === "CANCEL_APPROVED" || !event.counts)
          continue;
        const seconds = (event.at - (events[0]?.at ?? 0)) / 1e6;
        put(
          samples,
          [event.day, event.event_type === "COMMERCIAL_APPROVED" ? "commercial" : "technical", false],
          seconds,
        );
        if (event.state_after !== event.state_before) put(samples, [event.day, "both", false], seconds);
      }
    }
    expectSame(await linesOf("capacity_approval_latency", ["step", "automatic"], "approvals"), samples);
  });

  test("provisioning duration runs from PROVISIONING to COMPLETED or FAILED", async () => {
    const samples: Samples = new Map();
    for (const events of log) {
      const [start, end] = events.slice(-2);
      if (end === undefined || start === undefined || end.state_before !== "PROVISIONING") continue;
      put(samples, [end.day, end.state_after], (end.at - start.at) / 1e6);
    }
    expectSame(await linesOf("capacity_provisioning_duration", ["outcome"], "requests"), samples);
  });

  test("outcomes are separated by day, origin and event", async () => {
    const wanted = new Map<string, number>();
    for (const events of log) {
      const end = events.at(-1);
      if (
        end === undefined ||
        ["UNDER_REVIEW", "CUSTOMER_CONFIRMATION_REQUIRED", "PROVISIONING"].includes(end.state_after)
      )
        continue;
      const key = [end.day, end.state_after, end.state_before, end.event_type].join(" ");
      wanted.set(key, (wanted.get(key) ?? 0) + 1);
    }
    const rows = await rowsOf<{ key: string; requests: number }>(
      pool,
      `select concat_ws(' ', to_char(day, 'YYYY-MM-DD'), outcome, origin_state, event_type) as key, requests from public.capacity_outcomes where workspace_id = 'seed'`,
    );
    expect(new Map(rows.map((row) => [row.key, row.requests]))).toEqual(wanted);
  });

  test.each([
    "capacity_time_in_state",
    "capacity_approval_latency",
    "capacity_outcomes",
    "capacity_provisioning_duration",
  ])("%s reads a span of days by index, also where row-level security applies", async (view) => {
    const query = `select * from public.${view} where workspace_id = 'seed' and day > current_date - 30`;
    const plan = async (client: ClientBase): Promise<string> => {
      await client.query("set local enable_seqscan = off");
      return planOf(client, query);
    };
    const member = await overHttp(db, memberSession("requester-1", "seed"), plan);
    const auditor = await db.as("headroom_auditor").connect();
    await auditor.query("begin");
    for (const text of [member, await plan(auditor)]) {
      expect(text).toMatch(/Index (Only )?Scan (using|on) events_(by_time|approved)/);
      expect(text).toMatch(/Index Cond: \(\(workspace_id = .*created_at >= /);
    }
    await auditor.query("rollback");
  });

  test("a list of what waits on a person checks the requests that may wait on them, and no others", async () => {
    const client = await db.superuser.connect();
    await client.query("set track_functions = 'all'");
    const { owner } = await oneOf<{ owner: string }>(
      client,
      "select asked[1] as owner from capacity.waits where workspace_id = 'seed' and kind = 'owner' limit 1",
    );
    const calls = async (): Promise<number> => {
      const query =
        "select pg_stat_get_xact_function_calls('capacity.asked_now(capacity.requests)'::regprocedure) as n";
      return Number((await oneOf<{ n: string | null }>(client, query)).n ?? 0);
    };
    await client.query("begin");
    for (const [memberId, some] of [
      [owner, true],
      ["requester-1", false],
    ] as const) {
      const before = await calls();
      const { rows } = await client.query(
        "select * from capacity.list_requests('seed', p_waits_on => $1, p_limit => 1000)",
        [memberId],
      );
      expect([memberId, rows.length > 0]).toEqual([memberId, some]);
      // Once to decide, and once to say whom it waits on.
      expect((await calls()) - before).toBe(2 * rows.length);
    }
    await client.query("rollback");
    await client.end();
  });

  test("a member sees the metrics of the requests they may see, in their workspace", async () => {
    const { n: mine } = await overHttp(db, memberSession("requester-1", "seed"), countEnded);
    const { n: all } = await oneOf<{ n: number }>(
      pool,
      "select sum(requests)::integer as n from public.capacity_outcomes where workspace_id = 'seed'",
    );
    const { n: owned } = await oneOf<{ n: number }>(
      db.superuser.pool,
      `select count(*)::integer as n from capacity.requests
        where workspace_id = 'seed' and requester_user_id = 'requester-1' and state not in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING')`,
    );
    expect(mine).toBe(owned);
    expect(mine).toBeLessThan(all);
  });
});

function countEnded(client: ClientBase): Promise<{ n: number }> {
  return oneOf(client, "select coalesce(sum(requests), 0)::integer as n from public.capacity_outcomes");
}

async function planOf(client: ClientBase, query: string): Promise<string> {
  const rows = await rowsOf<{ "QUERY PLAN": string }>(client, `explain ${query}`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

describe("the backlog", async () => {
  const db = await createTestDatabase();
  const control = db.as("headroom_control").pool;
  const terms: RequestTerms = {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "8XL",
    quantity: 1,
    region: "eu-west-1",
    monthlyCostUsd: "100",
  };

  async function submit(changes: Partial<RequestTerms> = {}): Promise<string> {
    const created = await createRequest(control, { ...terms, ...changes });
    if (created.outcome === "refused") throw new Error(created.message);
    return created.request.id;
  }

  function backlog() {
    return rowsOf<{ stage: string; waits_on_kind: string; waits_on: string | null; requests: number; late: number }>(
      control,
      `select stage, waits_on_kind, waits_on, requests, late from public.capacity_backlog where workspace_id = 'default'
        order by stage, waits_on_kind, waits_on`,
    );
  }

  test("shows by stage what waits on whom, and follows the requests", async () => {
    await putMember(control, "default", "ann", { roles: ["requester"] });
    await putMember(control, "default", "olga", { roles: ["commercial"] });
    await putMember(control, "default", "dan", { roles: ["commercial"] });
    await putMember(control, "default", "vic", { roles: ["vp"] });
    await putMember(control, "default", "tom", { roles: ["operator"] });
    await putGroup(control, "default", "infra", { add: ["tom"] });
    await putPolicy(
      control,
      "default",
      "vp-above",
      { kind: "escalation", approverRole: "vp" },
      { minMonthlyCostUsd: 1_000 },
    );
    const first = await submit();
    await submit();
    const large = await submit({ monthlyCostUsd: "5000" });
    // Its owner endorses first, and then the higher authority is asked.
    expect(await backlog()).toContainEqual({
      stage: "commercial",
      waits_on_kind: "member",
      waits_on: "olga",
      requests: 3,
      late: 0,
    });
    await applyEvent(control, large, { type: "COMMERCIAL_APPROVED" }, { as: "olga" });
    expect(await backlog()).toEqual([
      { stage: "commercial", waits_on_kind: "member", waits_on: "olga", requests: 2, late: 0 },
      { stage: "commercial", waits_on_kind: "role", waits_on: "vp", requests: 1, late: 0 },
      { stage: "technical", waits_on_kind: "group", waits_on: "infra", requests: 3, late: 0 },
    ]);

    await applyEvent(control, first, { type: "COMMERCIAL_APPROVED" }, { as: "olga" });
    await applyEvent(control, first, { type: "TECH_REVIEW_APPROVED" }, { as: "tom" });
    expect(await backlog()).toContainEqual({
      stage: "confirmation",
      waits_on_kind: "customer",
      waits_on: null,
      requests: 1,
      late: 0,
    });
    await applyEvent(control, first, { type: "CUSTOMER_CONFIRMED" }, { as: "olga" });
    const now = Date.now();
    await putMember(control, "default", "olga", {
      delegate: "dan",
      awayFrom: new Date(now - 60_000),
      awayUntil: new Date(now + 3_600_000),
    });
    expect(await backlog()).toEqual([
      { stage: "commercial", waits_on_kind: "member", waits_on: "dan", requests: 1, late: 0 },
      { stage: "commercial", waits_on_kind: "role", waits_on: "vp", requests: 1, late: 0 },
      { stage: "provisioning", waits_on_kind: "operator", waits_on: null, requests: 1, late: 0 },
      { stage: "technical", waits_on_kind: "group", waits_on: "infra", requests: 2, late: 0 },
    ]);
  });

  test("shows a request that nobody can decide any more as waiting on nobody", async () => {
    await db.superuser.pool.query("update directory.members set active = false where id in ('olga', 'vic')");
    await db.superuser.pool.query("delete from directory.group_members where group_id = 'infra'");
    const rows = await backlog();
    await db.superuser.pool.query("update directory.members set active = true where id in ('olga', 'vic')");
    await db.superuser.pool.query("insert into directory.group_members values ('default', 'infra', 'tom')");
    expect(rows).toEqual([
      { stage: "commercial", waits_on_kind: "nobody", waits_on: "olga", requests: 1, late: 0 },
      { stage: "commercial", waits_on_kind: "nobody", waits_on: "vp", requests: 1, late: 0 },
      { stage: "provisioning", waits_on_kind: "operator", waits_on: null, requests: 1, late: 0 },
      { stage: "technical", waits_on_kind: "nobody", waits_on: "infra", requests: 2, late: 0 },
    ]);
  });

  test("counts what has waited longer than the workspace allows as late", async () => {
    await db.superuser.pool.query(
      `update capacity.requests set state_since = state_since - interval '30 hours', commercial_endorsed_at = commercial_endorsed_at - interval '30 hours'
        where state = 'UNDER_REVIEW'`,
    );
    const rows = await backlog();
    for (const row of rows) expect(row.late).toBe(row.stage === "provisioning" ? 0 : row.requests);
    const [oldest] = await rowsOf<{ seconds: number }>(
      control,
      "select max(oldest_seconds) as seconds from public.capacity_backlog",
    );
    expect(oldest?.seconds).toBeGreaterThan(30 * 3_600 - 60);
  });
});
