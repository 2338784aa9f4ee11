-- The undelivered part of a settle on a stream without order. The rows left the pending table when they were claimed; their history is in
-- the claim. Returns how many lines of each kind it wrote, and which rows it gave up.
create or replace function outbox.settle_row_exceptions(
  p_stream outbox.streams, p_outcomes outbox.row_outcome[],
  out retried integer, out released integer, out failed integer, out given_up uuid[]
)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claim_ids bigint[];
  v_dead jsonb;
begin
  with given as materialized (
    select o.claim_id, o.outbox_id, o.attempt_no, o.latency_ms, o.code, o.kind, outbox.without_addresses(o.message) as message,
           o.after_ms, coalesce(o.absent, false) as absent, o.sent_hash
      from unnest(p_outcomes) o
     where o.kind <> 'delivered'
  ), judged as materialized (
    select g.*, case when g.kind = 'unknown' then 'outcome_unknown' else g.code end as error_code, m.priority, m.expires_at,
           coalesce(m.destination_id, 0) as destination_id, m.way_id, m.bytes, m.payload_hash, m.tenant_id, r.name as rail,
           coalesce(c.first_sent_at[a.n], case when g.kind <> 'released' then c.claimed_at end) as first_sent_at,
           coalesce(c.tries[a.n], 0) + (g.kind <> 'released')::integer as tries_now,
           g.kind = 'unknown' or (coalesce(c.uncertain[a.n], false) and not g.absent) as uncertain_now,
           outbox.verdict(p_stream, g.kind, coalesce(c.tries[a.n], 0) + 1, r.capability, coalesce(c.uncertain[a.n], false)) as state
      from given g
      join outbox.claims c on c.claim_id = g.claim_id
      join outbox.payloads m on m.outbox_id = g.outbox_id
      join outbox.rails r on r.rail_id = m.rail_id
     cross join lateral (select case when c.tries is not null then array_position(c.outbox_ids, g.outbox_id) end as n) a
  ), line as (
    insert into outbox.attempts
      (outbox_id, attempt_no, class_id, stream_id, state, claim_id, latency_ms, uncertain, rail_code, error_code, sent_hash)
    select j.outbox_id, j.attempt_no + 1, p_stream.class_id, p_stream.stream_id, j.state, j.claim_id,
           case when j.state <> 'RELEASED' then j.latency_ms end, j.uncertain_now, j.code, j.error_code, j.sent_hash
      from judged j
  ), answer as (
    insert into outbox.answers (outbox_id, attempt_no, message)
    select j.outbox_id, j.attempt_no + 1, j.message from judged j where j.message is not null
  ), kept as (
    insert into outbox.pending_unordered
      (outbox_id, stream_id, priority, due, expires_at, first_sent_at, lines, destination_id, tries, uncertain, bytes, payload_hash,
       way_id)
    select w.outbox_id, p_stream.stream_id, w.priority,
           now() + case w.state when 'RETRYABLE' then outbox.backoff(p_stream, w.tries_now, w.after_ms)
                                else least(greatest(w.after_ms, 0), 86400000) * interval '1 ms' end,
           w.expires_at, w.first_sent_at,
           w.attempt_no + 1, w.destination_id, w.tries_now, w.uncertain_now, w.bytes, w.payload_hash, w.way_id
      from judged w where w.state in ('RETRYABLE', 'RELEASED')
  ), dead as (
    insert into outbox.dead (outbox_id, stream_id, first_sent_at, lines, tries, priority, uncertain, parked, error_code, error_message)
    select w.outbox_id, p_stream.stream_id, w.first_sent_at, w.attempt_no + 1, w.tries_now, w.priority,
           w.uncertain_now, w.uncertain_now, coalesce(w.error_code, 'failed'), w.message
      from judged w where w.state = 'FAILED'
  )
  select array_agg(j.claim_id), count(*) filter (where j.state = 'RETRYABLE'), count(*) filter (where j.state = 'RELEASED'),
         count(*) filter (where j.state = 'FAILED'), array_agg(j.outbox_id) filter (where j.state = 'FAILED'),
         jsonb_agg(jsonb_build_object('stream', p_stream.name, 'outbox_id', j.outbox_id, 'code', coalesce(j.error_code, 'failed'),
                                      'tenant_id', j.tenant_id, 'rail', j.rail)) filter (where j.state = 'FAILED')
    into v_claim_ids, retried, released, failed, given_up, v_dead
    from judged j;
  if v_claim_ids is not null then
    perform outbox.close_rows(v_claim_ids);
  end if;
  if v_dead is not null then
    perform headroom.run_hooks('outbox.ended', v_dead);
  end if;
end
$$;
comment on function outbox.settle_row_exceptions(outbox.streams, outbox.row_outcome[])
  is 'Records failed and released rows of streams without order, counts them, and names those given up. Nullable: given_up.';
