/**
 * What a decision reads does not grow with others' data: their requests, waiting messages, preferences, templates and endpoints.
 *
 * A connection keeps its plans, and plans made while there was little data may find a row in any way, since all are equally good then. So
 * each path is run often enough for its plans to be cached; then there is much of everything; then it is run again. The workspace's own
 * directory is left out, and there are many requests from the start: tables that only grow are analysed as they grow, and then plans that
 * read them are made again.
 */
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { copyRequest, prepareWorkspace, submitDelivered } from "../../../../bench/approvals.ts";
import { createTestDatabase, everyVersion } from "../../../helpers/database.ts";
import { rowsOf } from "../../outbox/queries.ts";

const OTHERS = 1_000;
/** After five custom plans, a statement gets a cached one. */
const TIMES = 7;

const requestOf = (number: number): string => `CR-2000-${String(number).padStart(6, "0")}`;

/** Each for the request of that number. */
const paths: Readonly<Record<string, string>> = {
  "an approval": "select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'bob')",
  "a technical approval": "select public.apply_capacity_event($1, 'TECH_REVIEW_APPROVED', 'user', 'ida')",
  "a rejection": `select public.apply_capacity_event($1, 'TECH_REVIEW_REJECTED', 'user', 'ida', '{"reason": "There is none."}')`,
  "a submission": `select public.create_capacity_request('ann', 'bob', 'infra', jsonb_build_object('name', $1::text), '32XL', 4, 'us-east-1', null, 30, 1000)`,
  "its money": "select public.get_payments($1)",
  "all about a request": "select public.get_capacity_request($1)",
};

/** Rows of others, without their parents: foreign keys play no part here. */
const others = [
  `insert into directory.workspaces (id, name) select 'w' || g, 'W' from generate_series(1, $1::integer) g`,
  `insert into capacity.routes (workspace_id, event_type, name)
   select 'w' || g, e, 'r' || g from generate_series(1, $1::integer) g,
     unnest('{REQUEST_SUBMITTED,COMMERCIAL_APPROVED,TECH_REVIEW_APPROVED,TECH_REVIEW_REJECTED}'::public.capacity_request_event_type[]) e`,
  `insert into notify.templates (workspace_id, name, language, title, body, updated_by)
   select 'w' || g, o.name, o.language, 'T', 'B', 'ada' from generate_series(1, $1::integer / 10) g, notify.own_templates o`,
  `insert into notify.preferences (workspace_id, whose, category, channel, choice)
   select 'default', 'member:m' || g, c, 'in-app', 'off' from generate_series(1, $1::integer) g, unnest('{requests,reviews}'::text[]) c`,
  `insert into capacity.request_captures (request_id, name, value)
   select 'CR-1999-' || g, n, g::text from generate_series(1, $1::integer) g, unnest('{slack_thread_ts,linear_issue_id}'::text[]) n`,
  `insert into capacity.request_customers (request_id, workspace_id, customer_key)
   select 'CR-1999-' || g, 'default', sha256(g::text::bytea) from generate_series(1, $1::integer) g`,
  `insert into capacity.personal_data (request_id, salt, customer_ref) select 'CR-1999-' || g, '\\x00', '{}' from generate_series(1, $1::integer) g`,
  `insert into capacity.notices (request_id, id, kind, actor_type, actor_id, via, body_hash)
   select 'CR-1999-' || g, 1, 'address', 'user', 'ann', 'api', sha256('x') from generate_series(1, $1::integer) g`,
  `insert into capacity.free_texts (request_id, hash, salt, content)
   select 'CR-1999-' || g, sha256('x'), gen_random_uuid(), '"x"' from generate_series(1, $1::integer) g`,
  `insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body, channels, expires_at)
   select 'default', 'member', 'bob', 'CR-1999-' || g || '#1/asked:commercial', 'reviews', 'REQUEST_SUBMITTED', 'CR-1999-' || g, 't', 'b',
          '{in-app,direct}', now() + interval '1 day' from generate_series(1, $1::integer) g`,
  `insert into notify.parts (notification_id, channel, state, workspace_id, recipient_kind, recipient, priority, due_at, expires_at)
   select n.id, 'in-app', 'shown', n.workspace_id, n.recipient_kind, n.recipient, 5, n.created_at, n.expires_at
     from notify.notifications n where n.about like 'CR-1999-%' limit $1::integer`,
  `insert into capacity.erasures (request_id, requested_at, requested_by, via, why, covers_to, tried_at)
   select 'CR-1999-' || g, now(), 'ada', 'api', 'asked', now(), now() from generate_series(1, $1::integer) g`,
  `insert into billing.checkouts (id, request_id, workspace_id, number, mode, currency, amount, entrance, expires_at, next_look_at)
   select gen_random_uuid(), 'CR-1999-' || g, 'default', 1, 'payment', 'usd', 100, 'link', now(), now() from generate_series(1, $1::integer) g`,
  `insert into billing.subscriptions (id, workspace_id, request_id, payment_id, kind, starts_at)
   select gen_random_uuid(), 'default', 'CR-1999-' || g, gen_random_uuid(), 'one_off', now() from generate_series(1, $1::integer) g`,
  `insert into provisioning.jobs (id, request_id, workspace_id, region)
   select gen_random_uuid(), 'CR-1999-' || g, 'default', 'us-east-1' from generate_series(1, $1::integer) g`,
  `insert into outbox.lanes (lane_id, stream_id, key, next_seq, idle_at) overriding system value
   select 1000000 + g, outbox.stream_id('capacity'), 'CR-1999-' || g || ':slack', 2, 1 from generate_series(1, $1::integer) g`,
  `insert into outbox.heads (lane_id, stream_id, priority, due, head_seq)
   select 1000000 + g, outbox.stream_id('capacity'), 5, now(), 1 from generate_series(1, $1::integer) g`,
  `insert into outbox.pending (lane_id, seq, outbox_id, due, payload_hash)
   select 1000000 + g, 1, gen_random_uuid(), now(), '\\x00' from generate_series(1, $1::integer) g`,
];

/** By table or index: the entries read in this transaction, or its pages, since entries that are skipped are not counted. */
async function readSoFar(client: ClientBase): Promise<Map<string, number>> {
  const rows = await rowsOf<{ name: string; n: number }>(
    client,
    `select c.oid::regclass::text as name,
            greatest(pg_stat_get_xact_tuples_returned(c.oid), pg_stat_get_xact_blocks_fetched(c.oid))::integer as n from pg_class c
      where c.relkind in ('r', 'i') and c.relnamespace::regnamespace::text not in ('pg_catalog', 'pg_toast', 'information_schema')`,
  );
  return new Map(rows.map(({ name, n }) => [name, n]));
}

async function readBy(client: ClientBase, work: () => Promise<unknown>): Promise<Map<string, number>> {
  await client.query("begin");
  const before = await readSoFar(client);
  await work();
  const after = await readSoFar(client);
  await client.query("commit");
  return new Map([...after].map(([name, n]) => [name, n - (before.get(name) ?? 0)]));
}

describe.each(everyVersion)("what a decision reads on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const little = new Map<string, Map<string, number>>();
  const much = new Map<string, Map<string, number>>();

  beforeAll(async () => {
    const client = await db.superuser.connect();
    await prepareWorkspace(client);
    await copyRequest(client, await submitDelivered(client, db.superuserUrl), OTHERS);
    let next = 1;
    const take = (name: string): Promise<Map<string, number>> =>
      readBy(client, () => client.query({ name, text: paths[name] ?? "", values: [requestOf(next++)] }));
    // One message waits, and all sizes are known.
    await take("an approval");
    await client.query("vacuum analyze");
    for (const name of Object.keys(paths))
      for (let time = 0; time < TIMES; time += 1) little.set(name, await take(name));
    // On a separate connection, because the setting discards the plans of its connection.
    const filling = await db.superuser.connect();
    await filling.query("set session_replication_role = replica");
    for (const text of others) await filling.query(text, [OTHERS]);
    for (const name of Object.keys(paths)) much.set(name, await take(name));
    await Promise.all([client.end(), filling.end()]);
  });

  test.each(Object.keys(paths))("%s reads no more than when there was little data", (name) => {
    const before = little.get(name);
    expect([...(before?.values() ?? [])].some((n) => n > 0)).toBe(true);
    const more = [...(much.get(name) ?? [])].map(([table, n]) => [table, n - (before?.get(table) ?? 0)] as const);
    expect(more.filter(([, n]) => n >= 20)).toEqual([]);
  });
});
