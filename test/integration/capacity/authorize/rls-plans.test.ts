/**
 * What row-level security costs: it looks the caller up once per query, never once per row, and its results must match indexed columns.
 * Read from the server's plans over a few thousand requests of many workspaces.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, everyVersion } from "../../../helpers/database.ts";
import { oneOf, type Queryable } from "../../outbox/queries.ts";
import { memberSession, overHttp, service as serviceSession } from "../gateway.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Parent Relationship"?: string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Loops": number;
  readonly "Actual Rows": number;
  readonly Plans?: readonly PlanNode[];
  readonly [field: string]: unknown;
}

const seed = `
-- Whether rows refer to rows that exist is nothing that a plan depends on, and asking that took longer than all of the tests.
set local session_replication_role = replica;
insert into directory.workspaces (id, name) select 'w' || w, 'W' from generate_series(1, 20) w;
insert into directory.members (workspace_id, id, display_name, roles)
select 'w' || w, 'm' || m, 'M', case m when 1 then '{admin}'::text[] when 2 then '{vp}' when 3 then '{operator}' else '{requester,commercial}' end
  from generate_series(1, 20) w, generate_series(1, 200) m;
insert into directory.groups (workspace_id, id, name) select 'w' || w, 'g' || g, 'G' from generate_series(1, 20) w, generate_series(1, 100) g;
insert into directory.group_members (workspace_id, group_id, member_id)
select 'w' || w, 'g' || g, 'm' || g + 10 from generate_series(1, 20) w, generate_series(1, 100) g;
insert into capacity.requests (id, workspace_id, created_at, updated_at, state_since, requester_user_id, commercial_owner_user_id, infra_owner_group,
                               requested_size, quantity, region, review_plan, state)
select 'CR-2026-' || lpad(n::text, 6, '0'), 'w' || 1 + n % 20, now(), now(), now(), 'm' || 4 + n / 20 % 190, 'm' || 4 + n / 7 % 190, 'g' || 1 + n / 11 % 100,
       '32XL', 1, 'us-east-1',
       case when n % 101 = 0 then '{"commercial": {"authority": {"kind": "role", "role": "vp"}}}'::jsonb
            when n % 101 = 1 then '{"commercial": {"authority": {"kind": "member", "member": "m9"}}}'
            else '{"commercial": {"authority": {"kind": "owner"}}}' end,
       (array['UNDER_REVIEW', 'COMPLETED', 'REJECTED', 'PROVISIONING'])[1 + n / 20 % 4]::public.capacity_request_state
  from generate_series(1, 24000) n;
insert into capacity.events
select r.id, s, gen_random_uuid(), 'COMMERCIAL_APPROVED', 'user', 'm4', 'test', 'UNDER_REVIEW', 'UNDER_REVIEW', '{}', '{}',
       now() - (right(r.id, 6)::integer * 4 + s) * interval '1 minute', '\\x00', r.workspace_id
  from capacity.requests r, generate_series(1, 4) s;
insert into capacity.personal_data (request_id, salt, customer_ref) select id, '\\x00', '{}' from capacity.requests;
insert into capacity.request_captures
select r.id, c.name, c.name || r.id from capacity.requests r cross join (values ('slack_thread_ts'), ('linear_issue_id')) c(name);
insert into capacity.request_customers
select r.id, r.workspace_id, sha256(convert_to(right(r.id, 3), 'UTF8')), 'org-' || right(r.id, 3) from capacity.requests r;
analyze capacity.requests, capacity.events, capacity.personal_data, capacity.request_captures, capacity.request_customers, directory.members, directory.workspaces, directory.group_members;
`;

/** What is read from the log, how, and the caller's own events that it may read at most. */
const readings: readonly (readonly [what: string, query: string, which: string])[] = [
  ["the newest event", "select id from public.capacity_request_events order by created_at desc limit 1", "limit 1"],
  [
    "a page of the log",
    "select * from public.capacity_request_events where created_at >= '2000-01-01' order by created_at limit 10",
    "limit 10",
  ],
  ...["capacity_time_in_state", "capacity_approval_latency", "capacity_outcomes", "capacity_provisioning_duration"].map(
    (view) =>
      [
        `a week of ${view}`,
        `select * from public.${view} where day > current_date - 7`,
        "where e.created_at >= (current_date - 7)::timestamp at time zone 'UTC'",
      ] as const,
  ),
];

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** A node's conditions, where a function would be called for each row. */
function conditionsOf(node: PlanNode): string {
  return ["Filter", "Index Cond", "Recheck Cond", "Join Filter", "Hash Cond"]
    .map((field) => JSON.stringify(node[field] ?? ""))
    .join(" ");
}

const indexesOf = (nodes: readonly PlanNode[]): string[] =>
  [...new Set(nodes.flatMap((node) => node["Index Name"] ?? []))].toSorted();

const scanned = (nodes: readonly PlanNode[]): string[] =>
  nodes.filter((node) => node["Node Type"] === "Seq Scan").map((node) => node["Relation Name"] ?? "");

/** The caller is looked up in init-plans, each of which ran at most once. */
function expectAskedOnce(nodes: readonly PlanNode[]): void {
  const asking = nodes.filter((node) => JSON.stringify({ ...node, Plans: [] }).includes("directory.reader_"));
  expect(asking.length).toBeGreaterThan(0);
  for (const node of asking) {
    expect(node["Parent Relationship"]).toBe("InitPlan");
    expect(node["Actual Loops"]).toBeLessThanOrEqual(1);
  }
  expect(nodes.map(conditionsOf).filter((text) => /capacity\.[a-z_]+\(/.test(text))).toEqual([]);
}

async function explain(client: Queryable, query: string): Promise<PlanNode[]> {
  const answer = await oneOf<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    client,
    `explain (analyze, verbose, timing off, format json) ${query}`,
  );
  return nodesOf(answer["QUERY PLAN"][0].Plan);
}

describe.each(everyVersion)("plans under row-level security on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version, template: "whole" });

  beforeAll(async () => {
    await db.superuser.pool.query(seed);
  });

  function planOf(memberId: string, query: string): Promise<PlanNode[]> {
    return overHttp(db, memberSession(memberId, "w3"), (client) => explain(client, query));
  }

  test.each([
    ["a requester", "m40"],
    ["a member of a group", "m20"],
    ["an authority by role", "m2"],
    ["an operator", "m3"],
    ["an admin", "m1"],
  ])("the requests of %s are found by indexes, one for each kind of relation to them", async (_who, memberId) => {
    const nodes = await planOf(memberId, "select id from public.capacity_requests");
    expectAskedOnce(nodes);
    expect(scanned(nodes)).toEqual([]);
    expect(nodes.map((node) => node["Node Type"])).toContain("BitmapOr");
    expect(indexesOf(nodes)).toEqual(
      expect.arrayContaining([
        "requests_authority_member",
        "requests_authority_role",
        "requests_commercial",
        "requests_infra",
        "requests_requester",
      ]),
    );
    expect(nodes[0]!["Actual Rows"]).toBeGreaterThan(0);
  });

  test("the history of one request is read by its key, and the request is looked up by its own", async () => {
    const [{ id }] = await overHttp(
      db,
      memberSession("m40", "w3"),
      async (client) =>
        (await client.query<{ id: string }>("select id from public.capacity_requests limit 1")).rows as [
          { id: string },
        ],
    );
    const nodes = await planOf(
      "m40",
      `select * from public.capacity_request_events where capacity_request_id = '${id}'`,
    );
    expectAskedOnce(nodes);
    expect(scanned(nodes)).toEqual([]);
    expect(indexesOf(nodes)).toEqual(["events_pkey", "free_texts_pkey", "requests_pkey"]);
    expect(nodes[0]!["Actual Rows"]).toBe(4);
  });

  test("a page of the newest requests with all columns also looks up the caller once", async () => {
    const nodes = await planOf(
      "m1",
      "select * from public.capacity_requests order by created_at desc, id desc limit 20",
    );
    expectAskedOnce(nodes);
    expect(scanned(nodes)).toEqual([]);
    expect(nodes[0]!["Actual Rows"]).toBe(20);
  });

  test.each(["slack_thread_ts", "linear_issue_id"])(
    "a request is found by its %s by index, and only by its readers",
    async (name) => {
      const { id } = await oneOf<{ id: string }>(
        db.superuser.pool,
        "select id from capacity.requests where workspace_id = 'w3' and requester_user_id = 'm40' limit 1",
      );
      const query = `select * from public.capacity_requests where ${name} = '${name}${id}'`;
      for (const [memberId, found] of [
        ["m40", 1],
        ["m1", 1],
        ["m199", 0],
      ] as const) {
        const nodes = await planOf(memberId, query);
        expect([memberId, nodes[0]!["Actual Rows"]]).toEqual([memberId, found]);
        expect(scanned(nodes)).toEqual([]);
        expectLookedUp(nodes);
      }
      const service = await overHttp(db, serviceSession, (client) => explain(client, query));
      expect(service[0]!["Actual Rows"]).toBe(1);
      expect(scanned(service)).toEqual([]);
      expectLookedUp(service);
    },
  );

  test("the backlog scans the requests once, whatever they wait for", async () => {
    const nodes = await planOf("m40", "select * from public.capacity_backlog");
    expectAskedOnce(nodes);
    expect(nodes.filter((node) => node["Relation Name"] === "requests")).toHaveLength(1);
    expect(nodes[0]!["Actual Rows"]).toBeGreaterThan(0);
  });

  test("recent events are found by their time", async () => {
    const nodes = await planOf(
      "m1",
      "select * from public.capacity_request_events where created_at >= now() - interval '6 hours' order by created_at limit 500",
    );
    expect(indexesOf(nodes)).toContain("events_by_time");
    expect(scanned(nodes)).not.toContain("events");
    expect(nodes[0]!["Actual Rows"]).toBeGreaterThan(0);
  });

  test.each(readings)(
    "for %s no event of another workspace is read, so that timing does not tell how many there are",
    async (_what, query, which) => {
      const { own } = await oneOf<{ own: number }>(
        db.superuser.pool,
        `select count(*)::integer as own from (
         select from capacity.events e join capacity.requests r on r.id = e.request_id and r.workspace_id = 'w3' ${which}) e`,
      );
      const nodes = (await planOf("m1", query)).filter((node) => node["Relation Name"] === "events");
      const looks = nodes.reduce((sum, node) => sum + node["Actual Loops"], 0);
      const rows = nodes.reduce((sum, node) => {
        const removed = [node["Rows Removed by Filter"], node["Rows Removed by Index Recheck"]].map((count) =>
          Number(count ?? 0),
        );
        return sum + (node["Actual Rows"] + removed.reduce((all, count) => all + count, 0)) * node["Actual Loops"];
      }, 0);
      expect(own).toBeGreaterThan(0);
      // Rows of several loops are reported as their mean, which was rounded.
      expect(rows).toBeLessThanOrEqual(own + (looks > 1 ? looks : 0));
    },
  );

  test("a list without threads, issues and customers does not read them", async () => {
    const nodes = await planOf(
      "m1",
      "select id, state from public.capacity_requests order by created_at desc limit 20",
    );
    const read = nodes.map((node) => node["Relation Name"]);
    expect(read).not.toContain("request_captures");
    expect(read).not.toContain("request_customers");
  });
});

/** The value leads to the capture, and the capture to one request; no node reads more than one row. */
function expectLookedUp(nodes: readonly PlanNode[]): void {
  expect(indexesOf(nodes)).toEqual(expect.arrayContaining(["request_captures_value", "requests_pkey"]));
  for (const node of nodes) expect(node["Actual Rows"]).toBeLessThanOrEqual(1);
}
