/**
 * The statements of the seeder. Each works on the whole slice; data that is not in the database yet is in temporary tables.
 *
 * `seed_stories` has a row per request: its events in order, and the content of its submission.
 * `seed_events` has the events so far; the last one of a request has the hash and the state that the next one builds on.
 */
import type { ClientBase } from "pg";
import { call } from "../../src/db/call.ts";
import type { SeedOptions } from "./seed.ts";

const owners = 12;
const groups = 6;
const requesters = 200;

/** People who ask, own and review: enough that "mine" is a small part of all. */
export async function directory(client: ClientBase, workspaceId: string): Promise<void> {
  const member = (id: string, roles: readonly string[]): Promise<unknown> =>
    call(client, "directory.put_member", {
      p_workspace_id: workspaceId,
      p_id: id,
      p_changes: { display_name: id.replace("-", " "), roles },
    });
  await call(client, "directory.put_workspace", { p_id: workspaceId, p_changes: {} });
  for (let n = 1; n <= owners; n += 1) await member(`owner-${n}`, ["requester", "commercial"]);
  for (let n = 1; n <= requesters; n += 1) await member(`requester-${n}`, ["requester"]);
  for (let n = 1; n <= groups; n += 1) {
    await member(`engineer-${n}`, ["requester", "operator"]);
    await call(client, "directory.put_group", {
      p_workspace_id: workspaceId,
      p_id: `infra-${n}`,
      p_add: [`engineer-${n}`],
    });
  }
}

export async function beginSlice(client: ClientBase): Promise<void> {
  await client.query("begin");
  await client.query("create temporary table seed_events (like capacity.events) on commit drop");
}

export async function endSlice(client: ClientBase, how: "commit" | "rollback"): Promise<void> {
  await client.query(how);
}

/**
 * Of the requests that have ended, two thirds are completed; the rest ended in all other ways. They began up to two years ago. Open ones
 * began in the last days, so that no deadline has passed.
 */
const stories = `
create temporary table seed_stories on commit drop as
with drawn as (
  select n, case when random() * 100 < $4 then 80 + random() * 20 else random() * 80 end as fate, random() < 0.5 as commercial_first, (random() * (${requesters} - 1))::integer + 1 as requester,
         (random() * (${owners} - 1))::integer + 1 as owner, (random() * (${groups} - 1))::integer + 1 as infra,
         (array['4XL', '8XL', '16XL', '32XL'])[(random() * 3)::integer + 1] as size, (random() * 19)::integer + 1 as quantity,
         (array['us-east-1', 'eu-west-1', 'eu-central-1', 'ap-southeast-2'])[(random() * 3)::integer + 1] as region,
         (random() * 9000000)::bigint / 100.0 as cost, random() as age, uuid_send(gen_random_uuid()) as salt,
         jsonb_build_object('org_id', 'org-' || (random() * 50000)::integer, 'name', 'Customer ' || n) as customer_ref
    from generate_series(1, $2::integer) n
), planned as (
  select d.*, case when d.commercial_first then array['COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED'] else array['TECH_REVIEW_APPROVED', 'COMMERCIAL_APPROVED'] end as reviews
    from drawn d
), routed as (
  select p.*,
         case
           when p.fate < 55 then p.reviews || array['CUSTOMER_CONFIRMED', 'PROVISIONING_COMPLETE']
           when p.fate < 59 then p.reviews || array['CUSTOMER_CONFIRMED', 'PROVISIONING_FAILED']
           when p.fate < 63 then array['COMMERCIAL_REJECTED']
           when p.fate < 67 then p.reviews[1:1] || case when p.commercial_first then 'TECH_REVIEW_REJECTED' else 'COMMERCIAL_REJECTED' end
           when p.fate < 71 then array['CANCEL_APPROVED']
           when p.fate < 73 then p.reviews || array['CANCEL_APPROVED']
           when p.fate < 76 then p.reviews || array['CUSTOMER_DECLINED']
           when p.fate < 80 then p.reviews || array['CUSTOMER_CONFIRMATION_TIMEOUT']
           when p.fate < 86 then '{}'
           when p.fate < 92 then p.reviews[1:1]
           when p.fate < 96 then p.reviews
           else p.reviews || array['CUSTOMER_CONFIRMED']
         end as way,
         clock_timestamp() - case when p.fate < 80 then interval '12 days' + p.age * interval '718 days' else interval '40 hours' + p.age * interval '2 days' end as started_at
    from planned p
), plans as materialized (
  select r.owner, r.infra,
         capacity.review_plan($1, 'requester-1', 'owner-' || r.owner, 'infra-' || r.infra, '4XL', 1, 'us-east-1', 1) as review_plan
    from (select distinct owner, infra from routed) r
)
select capacity.next_request_id('default', r.started_at) as id, r.started_at, r.salt, r.customer_ref, 'owner-' || r.owner as owner, 'engineer-' || r.infra as engineer,
       (array['REQUEST_SUBMITTED'] || array_fill('ENDORSED'::text, array[greatest(0, $3 - 1 - cardinality(r.way))]) || r.way)[1:$3] as steps,
       jsonb_build_object(
         'workspace_id', $1::text, 'requester_user_id', 'requester-' || r.requester, 'commercial_owner_user_id', 'owner-' || r.owner,
         'infra_owner_group', 'infra-' || r.infra, 'requested_size', r.size, 'quantity', r.quantity, 'region', r.region,
         'needed_by_date', (r.started_at + interval '60 days')::date, 'expected_duration_days', 90, 'estimated_monthly_cost_usd', r.cost,
         'confirmation_ttl_days', 7, 'slack_channel_id', null, 'replaces_request_id', null,
         'customer_hash', encode(sha256(r.salt || convert_to(r.customer_ref::text, 'UTF8')), 'hex'), 'review_plan', p.review_plan) as terms
  from routed r join plans p on p.owner = r.owner and p.infra = r.infra`;

export async function layOutStories(client: ClientBase, options: SeedOptions, requests: number): Promise<void> {
  await client.query(stories, [options.workspaceId, requests, options.eventsPerRequest, options.openPercent ?? 20]);
}

/** Who does what, through which channel, with which payload, and how long after the previous event: a minimum, and a random addition. */
const kinds = `
(values
  ('REQUEST_SUBMITTED',             'REQUEST_SUBMITTED',             'user',     'requester',    'web',      null,                null,                   '0 h',   '0 h'),
  ('ENDORSED',                      'COMMERCIAL_APPROVED',           'user',     'endorser',     'web',      '{"counts": false}', null,                   '0 h',   '24 h'),
  ('COMMERCIAL_APPROVED',           'COMMERCIAL_APPROVED',           'user',     'owner',        'slack',    '{}',                null,                   '0 h',   '4 h'),
  ('TECH_REVIEW_APPROVED',          'TECH_REVIEW_APPROVED',          'user',     'engineer',     'slack',    '{}',                null,                   '0 h',   '4 h'),
  ('COMMERCIAL_REJECTED',           'COMMERCIAL_REJECTED',           'user',     'owner',        'slack',    '{}',                'Not in this quarter.', '0 h',   '4 h'),
  ('TECH_REVIEW_REJECTED',          'TECH_REVIEW_REJECTED',          'user',     'engineer',     'web',      '{}',                'The region is full.',  '0 h',   '4 h'),
  ('CUSTOMER_CONFIRMED',            'CUSTOMER_CONFIRMED',            'customer', 'customer',     'link',     '{}',                null,                   '0 h',   '6 h'),
  ('CUSTOMER_DECLINED',             'CUSTOMER_DECLINED',             'customer', 'customer',     'link',     '{}',                'Too expensive.',       '0 h',   '144 h'),
  ('CUSTOMER_CONFIRMATION_TIMEOUT', 'CUSTOMER_CONFIRMATION_TIMEOUT', 'cron',     'timers',       'cron',     '{}',                null,                   '168 h', '1 min'),
  ('PROVISIONING_COMPLETE',         'PROVISIONING_COMPLETE',         'system',   'provisioning', 'callback', '{}',                null,                   '0 h',   '40 min'),
  ('PROVISIONING_FAILED',           'PROVISIONING_FAILED',           'system',   'provisioning', 'callback', '{}',                null,                   '0 h',   '15 min'),
  ('CANCEL_APPROVED',               'CANCEL_APPROVED',               'user',     'requester',    'web',      '{}',                'No longer needed.',    '0 h',   '48 h')
) k(name, event_type, actor_type, actor, via, payload, reason, wait, more_wait)`;

/** Salts of a made-up log may be computed, so that the texts can be stored once the log is complete. */
const reasonSalt = (id: string, seq: string): string => `md5(${id} || '#' || ${seq}::text)::uuid`;
const reasonHash = (id: string, seq: string, reason: string): string =>
  `sha256(uuid_send(${reasonSalt(id, seq)}) || convert_to(to_jsonb(${reason})::text, 'UTF8'))`;

/** The event of one step for every request that has it. An endorsement is an approval that does not count. */
const step = `
insert into seed_events
select (e.event).request_id, (e.event).seq, (e.event).id, (e.event).event_type, (e.event).actor_type, (e.event).actor_id, (e.event).via,
       (e.event).state_before, (e.event).state_after, (e.event).payload, (e.event).effects, (e.event).created_at, capacity.event_hash(e.last_hash, e.event),
       (e.event).workspace_id
  from (select row(n.id, $1::integer, gen_random_uuid(), n.event_type, n.actor_type, n.actor_id, n.via, n.state_before, n.state_after,
                   n.payload || case when n.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED' then jsonb_build_object('confirmation_token_id', gen_random_uuid()) else '{}' end,
                   case when $2 then array['event:seed'] else '{}'::text[] end, n.created_at, null, n.workspace_id)::capacity.events as event,
               n.last_hash
          from (select s.id, s.terms ->> 'workspace_id' as workspace_id, k.event_type::public.capacity_request_event_type as event_type, k.via, l.hash as last_hash,
                       k.actor_type::public.capacity_request_actor_type as actor_type, coalesce(l.state_after, 'SUBMITTED') as state_before,
                       case k.actor when 'requester' then s.terms ->> 'requester_user_id' when 'owner' then s.owner when 'engineer' then s.engineer
                                    when 'endorser' then 'endorser-' || $1 else k.actor end as actor_id,
                       capacity.compute_next_state(coalesce(l.state_after, 'SUBMITTED'), k.event_type::public.capacity_request_event_type,
                                                   'COMMERCIAL_APPROVED' = any (s.steps[:$1]), 'TECH_REVIEW_APPROVED' = any (s.steps[:$1])) as state_after,
                       coalesce(k.payload::jsonb, s.terms)
                         || case when k.reason is null then '{}' else jsonb_build_object('reason_hash', encode(${reasonHash("s.id", "$1::integer", "k.reason")}, 'hex')) end as payload,
                       coalesce(l.created_at + k.wait::interval
                                + random() * k.more_wait::interval / case k.name when 'ENDORSED' then cardinality(s.steps) else 1 end, s.started_at) as created_at
                  from seed_stories s
                  join ${kinds} on k.name = s.steps[$1]
                  left join seed_events l on l.request_id = s.id and l.seq = $1 - 1
                offset 0) n
        offset 0) e`;

export async function addStep(client: ClientBase, number: number, withEffects: boolean): Promise<void> {
  await client.query(step, [number, withEffects]);
}

/** The projection is the fold, computed by the database's own function. Returns the number of events. */
export async function storeRequests(client: ClientBase): Promise<number> {
  await client.query("analyze seed_events");
  await client.query(`
    insert into capacity.requests
    select (f.request).*
      from (select capacity.fold(array_agg(row(e.*)::capacity.events order by e.seq)) as request from seed_events e group by e.request_id offset 0) f
     order by (f.request).created_at`);
  const stored = await client.query("insert into capacity.events select * from seed_events order by request_id, seq");
  await client.query(`
    insert into capacity.personal_data (request_id, salt, customer_ref) select id, salt, customer_ref from seed_stories`);
  await client.query(`
    insert into capacity.free_texts (request_id, hash, salt, content, created_at)
    select e.request_id, ${reasonHash("e.request_id", "e.seq", "k.reason")}, ${reasonSalt("e.request_id", "e.seq")}, to_jsonb(k.reason), e.created_at
      from seed_events e join ${kinds} on k.name = e.event_type::text
     where e.payload ? 'reason_hash'`);
  await client.query(`
    insert into capacity.confirmation_tokens (id, request_id, expires_at, created_at, used_at, used_for)
    select (e.payload ->> 'confirmation_token_id')::uuid, e.request_id, e.created_at + interval '168 hours', e.created_at, a.created_at, a.event_type
      from seed_events e
      left join seed_events a on a.request_id = e.request_id and a.seq = e.seq + 1 and a.actor_type = 'customer'
     where e.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED'`);
  return stored.rowCount ?? 0;
}

/** One delivered row per event, in the lane of its request. */
export async function storeDeliveries(client: ClientBase): Promise<number> {
  await client.query(`
    create temporary table seed_rows on commit drop as
    select outbox.new_id(s.class_id) as outbox_id, s.stream_id, s.class_id, e.request_id, e.seq, p.payload, p.salt,
           sha256(uuid_send(p.salt) || convert_to(p.payload::text, 'UTF8')) as hash
      from seed_events e
     cross join (select stream_id, class_id from outbox.streams where name = 'capacity') s
     cross join lateral (select jsonb_build_object('specversion', '1.0', 'id', e.id, 'type', 'capacity.request.' || lower(e.event_type::text), 'subject', e.request_id) as payload, gen_random_uuid() as salt) p
     order by e.request_id, e.seq`);
  await client.query(`
    insert into outbox.lanes (stream_id, key, next_seq, idle_at, delivered_to, delivered_at)
    select stream_id, 'seed:' || request_id, count(*) + 1, count(*) + 1, count(*), now() from seed_rows group by stream_id, request_id`);
  await client.query(`
    insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash)
    select stream_id, request_id || '#' || seq, 'event:seed', outbox_id, salt, hash from seed_rows`);
  await client.query(`
    insert into outbox.payloads (outbox_id, lane_id, seq, stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash, payload)
    select r.outbox_id, l.lane_id, r.seq, r.stream_id, (select rail_id from outbox.rails where name = 'webhook'), 5, r.request_id || '#' || r.seq,
           'event:seed', r.hash, r.payload
      from seed_rows r join outbox.lanes l on l.stream_id = r.stream_id and l.key = 'seed:' || r.request_id`);
  const lines = await client.query(`
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, recorded_at, payload_hash)
    select r.outbox_id, n.line, r.class_id, r.stream_id, n.state::outbox.attempt_state, now(), case n.line when 1 then r.hash end
      from seed_rows r cross join (values (1, 'DISPATCHING'), (2, 'DISPATCHED')) n(line, state)
     order by r.outbox_id, n.line`);
  return (lines.rowCount ?? 0) / 2;
}

/** So that the planner has statistics, and index-only scans need not read the tables. */
export async function tidyUp(client: ClientBase): Promise<void> {
  for (const table of [
    "capacity.requests",
    "capacity.events",
    "capacity.personal_data",
    "capacity.free_texts",
    "capacity.confirmation_tokens",
    "outbox.lanes",
    "outbox.dedupe",
    "outbox.payloads",
    "outbox.attempts",
  ]) {
    await client.query(`vacuum (analyze) ${table}`);
  }
}
