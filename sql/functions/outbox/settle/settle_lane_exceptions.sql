-- The undelivered part of a settle on an ordered stream. Each lane has at most one row that failed; the rows behind it were never sent and
-- come back as RELEASED, whether they are named or not: when a claim has ended, no row may be left whose last line says that it is being
-- sent. Returns how many lines of each kind it wrote.
--
-- A row that waits for its next try becomes special, so that no run takes it before its time: a redrive may put any number of rows in front
-- of it.
create or replace function outbox.settle_lane_exceptions(
  p_stream outbox.streams, p_outcomes outbox.row_outcome[],
  out retried integer, out released integer, out failed integer, out given_up uuid[]
)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
  v_claims bigint[];
  v_seqs bigint[];
  v_states outbox.attempt_state[];
  v_dues timestamptz[];
  v_dead jsonb;
begin
  with named as materialized (
    select o.claim_id, o.lane_id, o.seq, o.outbox_id, o.attempt_no, o.latency_ms, o.code, o.kind,
           outbox.without_addresses(o.message) as message,
           o.after_ms, coalesce(o.absent, false) as absent, o.sent_hash
      from unnest(p_outcomes) o
     where o.kind <> 'delivered'
  ), given as materialized (
    select * from named
    union all
    select h.claim_id, p.lane_id, p.seq, p.outbox_id, p.lines + 1, null, null, 'released', null, null, false, null
      from (select n.lane_id, max(n.seq) as to_seq from named n group by n.lane_id) n
      join outbox.heads h on h.lane_id = n.lane_id and h.claimed_to > n.to_seq
      join outbox.pending p on p.lane_id = n.lane_id and p.seq > n.to_seq and p.seq <= h.claimed_to
     where h.rewind_to is null
        or exists (select from outbox.attempts a
                    where a.outbox_id = p.outbox_id and a.attempt_no = p.lines + 1 and a.class_id = p_stream.class_id)
  ), judged as materialized (
    select g.*, case when g.kind = 'unknown' then 'outcome_unknown' else g.code end as error_code, p.lines, p.priority, c.claimed_at,
           p.first_sent_at, m.tenant_id, r.name as rail,
           p.tries + (g.kind <> 'released')::integer as tries_now,
           g.kind = 'unknown' or (p.uncertain and not g.absent) as uncertain_now,
           outbox.verdict(p_stream, g.kind, p.tries + 1, r.capability, p.uncertain) as state
      from given g
      join outbox.claims c on c.claim_id = g.claim_id
      join outbox.pending p on p.lane_id = g.lane_id and p.seq = g.seq
      join outbox.payloads m on m.outbox_id = g.outbox_id
      join outbox.rails r on r.rail_id = m.rail_id
  ), dated as materialized (
    select j.*, case j.state
                  when 'RETRYABLE' then now() + outbox.backoff(p_stream, j.tries_now, j.after_ms)
                  when 'RELEASED' then now() + least(greatest(j.after_ms, 0), 86400000) * interval '1 ms'
                end as due
      from judged j
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
    update outbox.pending p
       set lines = p.lines + 2, tries = j.tries_now, uncertain = j.uncertain_now, special = p.special or j.state = 'RETRYABLE',
           due = case when j.state = 'RETRYABLE' then j.due else p.due end,
           first_sent_at = case when j.state = 'RETRYABLE' then coalesce(p.first_sent_at, j.claimed_at) else p.first_sent_at end
      from dated j where p.lane_id = j.lane_id and p.seq = j.seq and j.state in ('RETRYABLE', 'RELEASED')
  ), gone as (
    delete from outbox.pending p using judged j where p.lane_id = j.lane_id and p.seq = j.seq and j.state = 'FAILED'
  ), dead as (
    insert into outbox.dead
      (outbox_id, stream_id, lane_id, seq, first_sent_at, lines, tries, priority, uncertain, parked, error_code, error_message)
    select j.outbox_id, p_stream.stream_id, j.lane_id, j.seq, coalesce(j.first_sent_at, j.claimed_at), j.lines + 2, j.tries_now, j.priority,
           j.uncertain_now, j.uncertain_now, coalesce(j.error_code, 'failed'), j.message
      from judged j where j.state = 'FAILED'
  ), stop as (
    select distinct on (d.lane_id) d.lane_id, d.claim_id, d.seq, d.state, d.due from dated d order by d.lane_id, d.state = 'RELEASED', d.seq
  )
  select array_agg(s.lane_id), array_agg(s.claim_id), array_agg(s.seq), array_agg(s.state), array_agg(s.due),
         (select count(*) from judged j where j.state = 'RETRYABLE'), (select count(*) from judged j where j.state = 'RELEASED'),
         (select count(*) from judged j where j.state = 'FAILED'), (select array_agg(j.outbox_id) from judged j where j.state = 'FAILED'),
         (select jsonb_agg(jsonb_build_object('stream', p_stream.name, 'outbox_id', j.outbox_id, 'code', coalesce(j.error_code, 'failed'),
                                              'tenant_id', j.tenant_id, 'rail', j.rail)) from judged j where j.state = 'FAILED')
    into v_lanes, v_claims, v_seqs, v_states, v_dues, retried, released, failed, given_up, v_dead
    from stop s;
  if v_lanes is null then
    return;
  end if;

  perform outbox.close_rows(v_claims);
  -- A rewind that was asked for while the lane was in flight comes first, unless the lane blocks: then the redriven row waits with the
  -- others until an operator has dealt with the dead one, whose number marks the block.
  update outbox.heads h
     set head_seq = case when s.state = 'FAILED' then s.seq else least(s.seq, h.rewind_to) end,
         due = case when h.rewind_to is null then coalesce(s.due, now()) else now() end,
         run_limit = case when s.state = 'RELEASED' then h.run_limit else 1 end, blocked = s.state = 'FAILED',
         -- The next claim finds out to which destination a rewound row goes.
         destination_id = case when h.rewind_to is null then h.destination_id else 0 end,
         way_id = coalesce((select p.way_id from outbox.pending p
                             where p.lane_id = h.lane_id and p.seq >= least(s.seq, h.rewind_to) order by p.seq limit 1), h.way_id),
         claim_id = null, claimed_to = null, rewind_to = null
    from unnest(v_lanes, v_seqs, v_states, v_dues) s(lane_id, seq, state, due)
   where h.lane_id = s.lane_id
     and (s.state in ('RETRYABLE', 'RELEASED') or (s.state = 'FAILED' and p_stream.on_dead = 'block'));
  perform outbox.advance_lanes(array_agg(s.lane_id), array_agg(s.seq + 1))
     from unnest(v_lanes, v_seqs, v_states) s(lane_id, seq, state)
    where s.state = 'FAILED' and p_stream.on_dead = 'skip'
   having count(*) > 0;
  if v_dead is not null then
    perform headroom.run_hooks('outbox.ended', v_dead);
  end if;
end
$$;
comment on function outbox.settle_lane_exceptions(outbox.streams, outbox.row_outcome[])
  is 'Records failed and released rows of ordered lanes, counts them, and names those given up. Nullable: given_up.';
