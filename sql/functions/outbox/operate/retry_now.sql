-- Makes rows due immediately that wait for their next try: what made them fail is fixed, so there is no reason to wait longer. Each keeps
-- its place in its key, and its tries stay counted. If something else still holds it (a circuit, a rate limit, a rail that nobody serves),
-- the result says so.
--
-- Results: due_now; due_already (its time has come; something else holds it); scheduled (never tried: its time is the producer's); behind
-- (another row of its key comes first); in_flight; dead; finished; unknown; busy (another session holds its key at the moment: try again).
create or replace function outbox.retry_now(p_outbox_ids uuid[], p_actor text, p_reason text)
returns table (outbox_id uuid, result text, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  v_lanes bigint[];
  v_free uuid[];
  v_ids uuid[];
  v_places jsonb;
begin
  perform outbox.check_operator(p_outbox_ids, p_actor, p_reason);
  select array_agg(distinct m.lane_id) into v_lanes from outbox.payloads m where m.outbox_id = any (p_outbox_ids) and m.lane_id is not null;
  v_lanes := outbox.lock_lanes(v_lanes);
  select array_agg(u.id) into v_free
    from unnest(p_outbox_ids) u(id) left join outbox.payloads m on m.outbox_id = u.id
   where m.lane_id is null or m.lane_id = any (v_lanes);
  perform from outbox.pending_unordered u where u.outbox_id = any (v_free) order by u.outbox_id for update;

  with unordered as (
    update outbox.pending_unordered u set due = now(), lines = u.lines + 1
     where u.outbox_id = any (v_free) and u.lines > 0 and u.due > now()
    returning u.outbox_id, u.stream_id, u.lines, u.uncertain
  ), head as (
    update outbox.heads h set due = now()
      from outbox.payloads m, outbox.pending p
     where m.outbox_id = any (v_free) and h.lane_id = m.lane_id and h.head_seq = m.seq and h.claim_id is null and not h.blocked
       and h.due > now() and p.lane_id = m.lane_id and p.seq = m.seq and p.lines > 0
    returning h.lane_id, h.head_seq, h.stream_id
  ), ordered as (
    update outbox.pending p set due = least(p.due, now()), lines = p.lines + 1
      from head h where p.lane_id = h.lane_id and p.seq = h.head_seq
    returning p.outbox_id, h.stream_id, p.lines, p.uncertain
  ), moved as (
    select * from unordered union all select * from ordered
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, uncertain, actor, reason)
    select w.outbox_id, w.lines, get_byte(uuid_send(w.outbox_id), 7), w.stream_id, 'RETRY_NOW', w.uncertain, p_actor, p_reason
      from moved w
  )
  select array_agg(w.outbox_id) into v_ids from moved w;
  perform outbox.wake_relays(s.name)
     from outbox.streams s
    where s.stream_id in (select m.stream_id from outbox.payloads m where m.outbox_id = any (v_ids));
  v_places := outbox.places_of(p_outbox_ids);

  return query
  select a.id, f.result,
         case f.result
           when 'due_now' then case outbox.held_by(m.rail_id, t.name) ->> 'reason'
             when 'rail_not_served' then 'It waits: no relay serves its rail.'
             when 'circuit_open' then 'It waits: the circuit of its destination is open after failures.'
             when 'rate_limit' then 'It waits: its destination has a rate limit.'
           end
           when 'due_already' then 'Its time has come; something else holds it.'
           when 'scheduled' then 'It was never tried: it is sent at the time that its producer set.'
           when 'behind' then 'Another row of its key comes first.'
           when 'in_flight' then 'It is being sent. Try again when its outcome is known.'
           when 'dead' then 'It is a dead letter: redrive it.'
           when 'finished' then 'It was delivered or skipped before.'
           when 'unknown' then 'There is no such row, or its archive has been collected.'
           when 'busy' then 'Another session holds its key at the moment. Try again.'
         end
    from (select u.id, min(u.ord) as ord from unnest(p_outbox_ids) with ordinality u(id, ord) group by u.id) a
    left join outbox.payloads m on m.outbox_id = a.id
    left join outbox.destinations t on t.destination_id = m.destination_id
   cross join lateral (select v_places -> a.id::text as facts, v_places #>> array[a.id::text, 'place'] as place) w
   cross join lateral (
         select case
           when m.outbox_id is null then 'unknown'
           when a.id = any (v_ids) then 'due_now'
           when a.id <> all (v_free) or v_free is null then 'busy'
           when w.place = 'in_flight' then 'in_flight'
           when w.place in ('dead', 'parked') then 'dead'
           when w.place <> 'pending' then 'finished'
           when w.facts ? 'waits_for' then 'behind'
           when (w.facts ->> 'next_attempt_at')::timestamptz > now() then 'scheduled'
           else 'due_already' end as result) f
   order by a.ord;
end
$$;
comment on function outbox.retry_now(uuid[], text, text)
  is 'Makes rows due immediately that wait for their next try; one result per id. Nullable: detail.';
