/**
 * The invariants of the delivery engine as queries over the real tables: each returns the rows that break it, so an
 * empty answer is the proof.
 *
 * Owns: I4 (numbering and order of lines), I5 (order of a key) and I6 (one place per row), and the bookkeeping they
 * rest on. Does not own: what a receiver saw (I7), nor any setup.
 */
import type { ClientBase } from "pg";

export interface Violation {
  readonly invariant: string;
  /** The row, lane or claim that breaks it. */
  readonly subject: string;
  readonly detail: string;
}

interface Invariant {
  readonly name: string;
  /** Selects `subject` and `detail` of each violation. */
  readonly query: string;
}

/** Which line may follow which. A row that may have arrived is resolved before it is redriven, or stays in doubt. */
const linesFollowOneAnother = `
  select outbox_id::text as subject,
         format('line %s is %s after %s (row number %s)', attempt_no, state, coalesce(before::text, 'nothing'), n) as detail
    from (select a.*, row_number() over w as n, lag(a.state) over w as before, lag(a.rail_code) over w as code_before,
                 lag(a.uncertain) over w as uncertain_before
            from outbox.attempts a window w as (partition by a.outbox_id order by a.attempt_no)) l
   where n <> attempt_no
      or not case
               when before in ('RETRYABLE', 'RELEASED', 'ZOMBIE_REQUEUE', 'RETRY_NOW') and state = 'RETRY_NOW' then true
               when before is null or before in ('RETRYABLE', 'RELEASED', 'REDRIVEN', 'RETRY_NOW')
                 then state in ('DISPATCHING', 'SKIPPED')
               when before = 'DISPATCHING' then state in ('DISPATCHED', 'RETRYABLE', 'FAILED', 'ZOMBIE_REQUEUE', 'RELEASED', 'SKIPPED')
               when before = 'ZOMBIE_REQUEUE' then state in ('DISPATCHING', 'FAILED', 'SKIPPED')
               when before = 'FAILED' and uncertain_before then state in ('SKIPPED', 'RESOLVED') or state = 'REDRIVEN' and uncertain
               when before = 'FAILED' then state in ('REDRIVEN', 'SKIPPED')
               when before = 'RESOLVED' and code_before = 'not_delivered' then state in ('REDRIVEN', 'SKIPPED')
               else false
             end`;

const deliveredOnce = `
  select outbox_id::text as subject, format('delivered %s times', count(*)) as detail
    from outbox.attempts
   where state = 'DISPATCHED' or state = 'RESOLVED' and rail_code = 'delivered'
   group by outbox_id having count(*) > 1`;

const operatorsSayWhoAndWhy = `
  select outbox_id::text as subject, format('line %s (%s) lacks actor or reason', attempt_no, state) as detail
    from outbox.attempts
   where (state in ('REDRIVEN', 'RESOLVED', 'RETRY_NOW') or state = 'SKIPPED' and error_code = 'operator') and (actor is null or reason is null)`;

/** By the time of the DISPATCHED line. Rows redriven out of order are left out; so are those that a person resolved later. */
const deliveredInOrder = `
  select outbox_id::text as subject, format('number %s of lane %s was delivered before an earlier one', seq, lane_id) as detail
    from (select m.outbox_id, m.lane_id, m.seq, a.recorded_at,
                 max(a.recorded_at) over (partition by m.lane_id order by m.seq rows between unbounded preceding and 1 preceding) as before
            from outbox.payloads m
            join outbox.attempts a on a.outbox_id = m.outbox_id and a.state = 'DISPATCHED'
           where m.lane_id is not null
             and not exists (select from outbox.attempts x where x.outbox_id = m.outbox_id and x.state = 'REDRIVEN' and x.out_of_order)) d
   where recorded_at < before`;

/** Stronger: at each send, the previous number was finished, or was in flight ahead in the same claim. */
const sentOnlyInTurn = `
  with numbered as (
    select m.outbox_id, m.seq, m.lane_id, s.on_dead, lag(m.outbox_id) over (partition by m.lane_id order by m.seq) as before_id
      from outbox.payloads m join outbox.streams s on s.stream_id = m.stream_id
     where m.lane_id is not null
  )
  select b.outbox_id::text as subject,
         format('line %s: number %s of lane %s was sent while the one before was %s', a.attempt_no, b.seq, b.lane_id, coalesce(p.state::text, 'pending')) as detail
    from numbered b
    join outbox.attempts a on a.outbox_id = b.outbox_id and a.state = 'DISPATCHING'
    left join lateral (select p.state, p.rail_code from outbox.attempts p
                        where p.outbox_id = b.before_id and p.recorded_at <= a.recorded_at order by p.attempt_no desc limit 1) p on true
   where b.before_id is not null
     and not exists (select from outbox.attempts x where x.outbox_id = b.before_id and x.state = 'DISPATCHING' and x.claim_id = a.claim_id)
     and not coalesce(p.state in ('DISPATCHED', 'SKIPPED') or p.state = 'RESOLVED' and p.rail_code = 'delivered'
                      or b.on_dead = 'skip' and p.state in ('FAILED', 'RESOLVED'), false)`;

const lastLines = `
  last_line as (
    select distinct on (a.outbox_id) a.outbox_id, a.attempt_no, a.state, a.rail_code, a.claim_id
      from outbox.attempts a order by a.outbox_id, a.attempt_no desc)`;

/**
 * Everything that names a row, combined and grouped: a join of the rows in flight with the last lines is quadratic whenever
 * the planner expects little to be in flight.
 */
const inOnePlace = `
  with ${lastLines}, named as (
    select outbox_id, 'line' as source, attempt_no as line, state, rail_code from last_line
    union all select outbox_id, 'payload', null, null, null from outbox.payloads
    union all select outbox_id, 'pending', null, null, null from outbox.pending
    union all select outbox_id, 'pending', null, null, null from outbox.pending_unordered
    union all select outbox_id, 'dead', null, null, null from outbox.dead
    union all select u.id, 'claim', u.line, null, null from outbox.claims c cross join lateral unnest(c.outbox_ids, c.lines) u(id, line)
  ), gathered as (
    select outbox_id, count(*) filter (where source = 'payload') as payloads, count(*) filter (where source = 'pending') as pending,
           count(*) filter (where source = 'dead') as dead, array_agg(line) filter (where source = 'claim') as claimed,
           max(line) filter (where source = 'line') as last_no, max(state) as state, max(rail_code) as rail_code
      from named group by outbox_id
  ), placed as (
    select outbox_id, pending, dead,
           case when state = 'DISPATCHING' then coalesce(cardinality(array_positions(claimed, last_no)), 0) else 0 end as flying,
           coalesce(state in ('DISPATCHED', 'SKIPPED') or state = 'RESOLVED' and rail_code = 'delivered', false)::integer as finished
      from gathered where payloads > 0
  )
  select outbox_id::text as subject,
         format('is in %s places: pending %s, claimed %s, dead %s, finished %s', pending + flying + dead + finished, pending, flying, dead, finished) as detail
    from placed where pending + flying + dead + finished <> 1`;

const flyingUnderALease = `
  with ${lastLines}
  select p.outbox_id::text as subject, format('number %s of lane %s ends with DISPATCHING and no lease holds it', p.seq, p.lane_id) as detail
    from outbox.pending p
    join last_line l on l.outbox_id = p.outbox_id and l.state = 'DISPATCHING'
    left join outbox.heads h on h.lane_id = p.lane_id and h.claim_id = l.claim_id and p.seq between h.head_seq and h.claimed_to
    left join outbox.claims c on c.claim_id = h.claim_id and p.lane_id = any (c.lane_ids)
   where c.claim_id is null`;

const linesAreCounted = `
  with ${lastLines}, counted as (
    select outbox_id, lines, 'pending' as place from outbox.pending
    union all select outbox_id, lines, 'pending' from outbox.pending_unordered
    union all select outbox_id, lines, 'dead' from outbox.dead
  )
  select c.outbox_id::text as subject, format('%s, counts %s lines, the archive has %s ending with %s', c.place, c.lines, coalesce(l.attempt_no, 0), l.state) as detail
    from counted c left join last_line l on l.outbox_id = c.outbox_id
   where c.lines <> coalesce(l.attempt_no, 0) - (c.place = 'pending' and l.state = 'DISPATCHING')::integer
      or c.place = 'dead' and not (l.state = 'FAILED' or l.state = 'RESOLVED' and l.rail_code = 'not_delivered')`;

/** No lane is stranded: a lane with rows has a head, and a lane without a head is marked idle. */
const lanesAreAwake = `
  select format('lane %s', l.lane_id) as subject,
         format('idle at %s, next %s, head %s%s, first pending %s', l.idle_at, l.next_seq, coalesce(h.head_seq::text, 'none'),
                case when h.blocked then ' (blocked)' end, coalesce(p.seq::text, 'none')) as detail
    from outbox.lanes l
    left join outbox.heads h on h.lane_id = l.lane_id
    left join lateral (select p.seq from outbox.pending p where p.lane_id = l.lane_id order by p.seq limit 1) p on true
   where (h.lane_id is null) <> (l.idle_at = l.next_seq)
      or h.lane_id is null and p.seq is not null
      or h.blocked and not exists (select from outbox.dead d where d.lane_id = h.lane_id and d.seq = h.head_seq)
      or not h.blocked and p.seq < least(h.head_seq, h.rewind_to)
      or h.claim_id is not null and not exists (select from outbox.claims c where c.claim_id = h.claim_id and h.lane_id = any (c.lane_ids))`;

const claimsAreCounted = `
  select format('claim %s', c.claim_id) as subject, format('counts %s open, %s are', c.open, n.open) as detail
    from outbox.claims c
   cross join lateral (
         select case when c.lane_ids is not null then (select count(*) from outbox.heads h where h.claim_id = c.claim_id)
                     else (select count(*) from unnest(c.outbox_ids, c.lines) u(id, line)
                            where not exists (select from outbox.attempts a
                                               where a.outbox_id = u.id and a.attempt_no = u.line + 1
                                                 and a.class_id = get_byte(uuid_send(u.id), 7))) end as open) n
   where c.open <> n.open`;

/** Only for databases without collection: there every allocated number is still visible. */
const numbersAreGapless = `
  with delivered as (
    select distinct outbox_id from outbox.attempts where state = 'DISPATCHED' or state = 'RESOLVED' and rail_code = 'delivered'
  ), counted as (
    select m.lane_id, count(*) as rows, min(m.seq) as first, max(m.seq) as last, max(m.seq) filter (where d.outbox_id is not null) as delivered_to
      from outbox.payloads m left join delivered d on d.outbox_id = m.outbox_id
     where m.lane_id is not null group by m.lane_id
  )
  select format('lane %s', l.lane_id) as subject,
         format('next number %s, %s rows from %s to %s, delivered to %s, books say %s', l.next_seq, n.rows, n.first, n.last, n.delivered_to,
                greatest(l.delivered_to, h.delivered_to)) as detail
    from outbox.lanes l
    join outbox.streams s on s.stream_id = l.stream_id
    join outbox.retention_classes c on c.class_id = s.class_id and c.retain_days is null
    left join outbox.heads h on h.lane_id = l.lane_id
    left join counted n on n.lane_id = l.lane_id
   where n.rows is distinct from l.next_seq - 1 or n.first <> 1 or n.last <> l.next_seq - 1
      or n.delivered_to is distinct from greatest(l.delivered_to, h.delivered_to)`;

/**
 * A lane records its last delivery: never earlier than the archive, and only if something was delivered. It may be later: the
 * archive of a test is made older, and a resolved row counts from when it was given up. With collection this cannot be checked.
 */
const lanesKnowTheirLast = `
  with delivered as (
    select m.lane_id, max(a.recorded_at) filter (where a.state = 'DISPATCHED') as at
      from outbox.attempts a join outbox.payloads m on m.outbox_id = a.outbox_id
     where a.state = 'DISPATCHED' or a.state = 'RESOLVED' and a.rail_code = 'delivered' group by m.lane_id
  )
  select format('lane %s', l.lane_id) as subject,
         format('last delivered %s, books say %s', d.at, greatest(l.delivered_at, h.delivered_at)) as detail
    from outbox.lanes l
    join outbox.streams s on s.stream_id = l.stream_id
    join outbox.retention_classes c on c.class_id = s.class_id and c.retain_days is null
    left join outbox.heads h on h.lane_id = l.lane_id
    left join delivered d on d.lane_id = l.lane_id
   where (d.lane_id is null) <> (greatest(l.delivered_at, h.delivered_at) is null) or greatest(l.delivered_at, h.delivered_at) < d.at`;

export const invariants: readonly Invariant[] = [
  { name: "I4 lines are numbered without a gap and follow one another by the rules", query: linesFollowOneAnother },
  { name: "I4 a row is delivered at most once", query: deliveredOnce },
  { name: "I4 operators' lines say who and why", query: operatorsSayWhoAndWhy },
  { name: "I5 a key's rows are delivered in the order of their numbers", query: deliveredInOrder },
  { name: "I5 a row is sent only when the one before is finished", query: sentOnlyInTurn },
  { name: "I6 a row is in exactly one place", query: inOnePlace },
  { name: "I6 a row in flight is held by a lease", query: flyingUnderALease },
  { name: "I6 each place counts the archive's lines", query: linesAreCounted },
  { name: "I6 a lane with rows has a head, and one without is idle", query: lanesAreAwake },
  { name: "I6 a claim counts what it holds", query: claimsAreCounted },
  { name: "numbers of a key are gapless", query: numbersAreGapless },
  { name: "a lane knows when it last delivered", query: lanesKnowTheirLast },
];

/** Checks everything in one snapshot, so that relays may run meanwhile. The client must not be in a transaction. */
export async function findViolations(client: ClientBase, limitPerInvariant = 20): Promise<Violation[]> {
  const found: Violation[] = [];
  await client.query("begin isolation level repeatable read read only");
  try {
    for (const [number, { name, query }] of invariants.entries()) {
      // By name, so that a connection plans it once: over all partitions of the archive planning takes longer than running.
      const broken = await client.query<{ subject: string; detail: string }>({
        name: `invariant ${number}, ${limitPerInvariant}`,
        text: `${query} limit ${limitPerInvariant}`,
      });
      for (const row of broken.rows) found.push({ invariant: name, subject: row.subject, detail: row.detail });
    }
  } finally {
    await client.query("rollback");
  }
  return found;
}

/** Throws with every violation that was found, one per line. */
export async function assertInvariants(client: ClientBase): Promise<void> {
  const found = await findViolations(client);
  if (found.length === 0) return;
  throw new Error(found.map((v) => `${v.invariant}: ${v.subject} ${v.detail}`).join("\n"));
}
