-- Takes back the lanes of one expired claim that nobody else holds; the caller finds out which are left. The next run of each is one row
-- long, because a row in it may have killed the relay. If the rail can prove nothing, a row that may already have arrived before is not
-- sent a third time.
create or replace function outbox.reap_lanes(p_stream outbox.streams, p_claim outbox.claims) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
  v_rows integer;
  v_twice uuid[];
  v_spent_lanes bigint[];
  v_spent_seqs bigint[];
begin
  -- Lanes of the claim that were settled before belong to others by now.
  select array_agg(h.lane_id) into v_lanes
    from (select h.lane_id from outbox.heads h
           where h.lane_id = any (p_claim.lane_ids) and h.claim_id = p_claim.claim_id order by h.lane_id for update skip locked) h;
  with flying as materialized (
    select p.lane_id, p.seq, p.outbox_id, p.lines, p.tries, p.uncertain
      from outbox.heads h join outbox.pending p on p.lane_id = h.lane_id and p.seq between h.head_seq and h.claimed_to
     where h.lane_id = any (v_lanes)
       -- A row redriven while the lane was in flight is in the range without having been claimed.
       and (h.rewind_to is null
            or exists (select from outbox.attempts a
                        where a.outbox_id = p.outbox_id and a.attempt_no = p.lines + 1 and a.class_id = p_stream.class_id))
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, uncertain, error_code)
    select f.outbox_id, f.lines + 2, p_stream.class_id, p_stream.stream_id, 'ZOMBIE_REQUEUE', p_claim.relay_id, p_claim.claim_id, true,
           'lease_expired'
      from flying f
  ), requeued as (
    update outbox.pending p
       set lines = p.lines + 2, tries = p.tries + 1, uncertain = true, first_sent_at = coalesce(p.first_sent_at, p_claim.claimed_at)
      from flying f where p.lane_id = f.lane_id and p.seq = f.seq
  ), freed as (
    update outbox.heads h
       set claim_id = null, claimed_to = null, run_limit = 1, due = now(), head_seq = least(h.head_seq, h.rewind_to), rewind_to = null,
           destination_id = case when h.rewind_to is null then h.destination_id else 0 end,
           way_id = coalesce((select p.way_id from outbox.pending p
                               where p.lane_id = h.lane_id and p.seq >= least(h.head_seq, h.rewind_to) order by p.seq limit 1), h.way_id)
     where h.lane_id = any (v_lanes)
  )
  select count(*), array_agg(f.outbox_id) filter (where f.uncertain and r.capability = 'blind') into v_rows, v_twice
    from flying f join outbox.payloads m on m.outbox_id = f.outbox_id join outbox.rails r on r.rail_id = m.rail_id;

  -- Only the first row of a lane can be given up now; those behind it are judged when their turn comes.
  select array_agg(p.lane_id), array_agg(p.seq) into v_spent_lanes, v_spent_seqs
    from unnest(v_lanes) n(lane_id)
    join outbox.heads h on h.lane_id = n.lane_id
   cross join lateral (select p.* from outbox.pending p where p.lane_id = h.lane_id and p.seq >= h.head_seq order by p.seq limit 1) p
   where p.uncertain and (p.tries >= p_stream.max_tries or coalesce(p.outbox_id = any (v_twice), false));
  if v_spent_lanes is not null then
    perform outbox.give_up_heads(p_stream, v_spent_lanes, v_spent_seqs, 'tries_exhausted',
            'The relay died each time while sending this row.');
  end if;
  return v_rows;
end
$$;
comment on function outbox.reap_lanes(outbox.streams, outbox.claims) is 'Requeues the rows in flight of an expired claim on lanes.';
