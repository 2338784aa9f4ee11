-- The undelivered part of a settle on a stream without order. The rows left the pending table when they were claimed; what
-- they had been through is read from the archive, which is the record. Returns how many lines were written.
create or replace function outbox.settle_row_exceptions(
  p_stream outbox.streams, p_live bigint[], p_claim_ids bigint[], p_outbox_ids uuid[], p_attempt_nos integer[],
  p_latencies_ms integer[], p_outcomes text[], p_exceptions jsonb
) returns integer
language plpgsql volatile
set search_path = '' set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  v_written integer;
begin
  with given as materialized (
    select g.*, e.code, e.message, e."afterMs" as after_ms, coalesce(e.absent, false) as absent
      from rows from (unnest(p_claim_ids), unnest(p_outbox_ids), unnest(p_attempt_nos), unnest(p_latencies_ms), unnest(p_outcomes))
           with ordinality g(claim_id, outbox_id, attempt_no, latency_ms, outcome, n)
      left join jsonb_to_recordset(p_exceptions) e(n integer, code text, message text, "afterMs" bigint, absent boolean) on e.n = g.n
     where g.outcome <> 'delivered' and g.claim_id = any (p_live)
  ), judged as materialized (
    select g.*, m.priority, m.expires_at, m.destination_id, a.first_sent_at,
           a.tries - (g.outcome in ('released', 'skipped', 'rejected'))::integer as tries_now,
           g.outcome = 'unknown' or (a.uncertain and not g.absent) as uncertain_now,
           outbox.verdict(p_stream, g.outcome, a.tries, r.capability) as state
      from given g
      join outbox.payloads m on m.outbox_id = g.outbox_id
      join outbox.rails r on r.rail_id = m.rail_id
     cross join lateral outbox.tries_so_far(g.outbox_id, p_stream.class_id) a
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, claim_id, latency_ms, uncertain, error_code, error_message)
    select j.outbox_id, j.attempt_no + 1, p_stream.class_id, p_stream.stream_id, j.state, j.claim_id,
           case when j.state <> 'RELEASED' then j.latency_ms end, j.uncertain_now, j.code, left(j.message, 2000)
      from judged j
    on conflict do nothing
    returning outbox_id, claim_id
  ), written as materialized (
    select j.* from judged j where j.outbox_id in (select outbox_id from line)
  ), kept as (
    insert into outbox.pending_unordered (outbox_id, stream_id, priority, due, expires_at, first_sent_at, lines, destination_id, tries, uncertain)
    select w.outbox_id, p_stream.stream_id, w.priority,
           now() + case w.state when 'RETRYABLE' then outbox.backoff(p_stream, w.tries_now, w.after_ms) else coalesce(w.after_ms, 0) * interval '1 ms' end,
           w.expires_at, case when w.state = 'RETRYABLE' or w.tries_now > 0 then w.first_sent_at end,
           w.attempt_no + 1, w.destination_id, w.tries_now, w.uncertain_now
      from written w where w.state in ('RETRYABLE', 'RELEASED')
  ), buried as (
    insert into outbox.dead (outbox_id, stream_id, first_sent_at, lines, tries, priority, uncertain, parked, error_code, error_message)
    select w.outbox_id, p_stream.stream_id, w.first_sent_at, w.attempt_no + 1, w.tries_now, w.priority,
           w.uncertain_now, w.uncertain_now, coalesce(w.code, 'failed'), left(w.message, 2000)
      from written w where w.state = 'FAILED'
  ), counted as materialized (
    select l.claim_id, count(*) as settled from line l group by l.claim_id
  ), closed as (
    delete from outbox.claims c using counted n where c.claim_id = n.claim_id and c.open <= n.settled
  ), lowered as (
    update outbox.claims c set open = c.open - n.settled from counted n where c.claim_id = n.claim_id and c.open > n.settled
  )
  select coalesce(sum(n.settled), 0) into v_written from counted n;
  return v_written;
end
$$;
comment on function outbox.settle_row_exceptions(outbox.streams, bigint[], bigint[], uuid[], integer[], integer[], text[], jsonb)
  is 'Records failed, released and skipped rows of streams without order.';
