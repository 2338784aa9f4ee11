-- How many milliseconds until something of these streams can be sent by the rails of a relay; zero when something can be sent now, null
-- when nothing is dated. A sleeping relay asks once before it sleeps, so that it wakes in time for a retry or a slot. Queues that have no
-- room (p_in_flight: see open_queues) are left out: the relay checks again when one of its own calls ends.
--
-- Queues are checked in the order in which they open, only as long as one could still be earlier: usually the first one decides.
create or replace function outbox.next_due(p_stream_ids smallint[], p_in_flight jsonb default null)
  returns table (stream_id smallint, wait_ms integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_stream outbox.streams;
  v_ways integer[];
  v_queue record;
  v_due timestamptz;
begin
  for v_stream in select s.* from outbox.streams s where s.stream_id = any (p_stream_ids) loop
    v_due := null;
    v_ways := (outbox.open_ways(v_stream.stream_id, p_in_flight)).ways;
    for v_queue in
      select w as way_id, 0 as destination_id, '-infinity'::timestamptz as opens_at, false as more from unnest(v_ways) w
      union all
      select q.way_id, q.destination_id, q.opens_at, q.more from outbox.open_queues(v_stream, v_ways, '-infinity', p_in_flight, false) q
       where q.opens_at > now() or q.slots > 0 and q.tenant_slots > 0 or q.more
       order by 3
    loop
      -- There are more queues than one pass takes: only a claim finds out whether something is due.
      v_due := case when v_queue.more then least(v_due, now()) else v_due end;
      exit when v_due <= greatest(v_queue.opens_at, now());
      if v_stream.ordered then
        v_due := least(v_due, (
          select min(greatest(d.due, v_queue.opens_at))
            from generate_series(0, 9) level(priority)
           cross join lateral (
                 select h.due from outbox.heads h
                  where h.stream_id = v_stream.stream_id and h.way_id = v_queue.way_id and h.destination_id = v_queue.destination_id
                    and h.priority = level.priority and h.claim_id is null and not h.blocked
                  order by h.due limit 1) d));
      else
        v_due := least(v_due, (
          select min(greatest(d.due, v_queue.opens_at))
            from generate_series(0, 9) level(priority)
           cross join lateral (
                 select u.due from outbox.pending_unordered u
                  where u.stream_id = v_stream.stream_id and u.way_id = v_queue.way_id and u.destination_id = v_queue.destination_id
                    and u.priority = level.priority
                  order by u.due limit 1) d));
      end if;
    end loop;
    if v_due is not null then
      stream_id := v_stream.stream_id;
      -- Rows from before dates were bounded may have infinity, which cannot be subtracted from.
      wait_ms := least(greatest(0, ceil((extract(epoch from v_due) - extract(epoch from clock_timestamp())) * 1000)), 86400000)::integer;
      return next;
    end if;
  end loop;
end
$$;
comment on function outbox.next_due(smallint[], jsonb) is 'Milliseconds until each stream has something due.';
