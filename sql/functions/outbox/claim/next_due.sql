-- How many milliseconds until something of these streams can be sent; zero when something can, null when nothing is dated. A sleeping
-- relay asks once before it sleeps, so that a retry or a slot is met on time. Queues that have no room (p_in_flight: see open_queues) are
-- left out: the relay looks again when a call of its own comes to an end.
create or replace function outbox.next_due(p_stream_ids smallint[], p_in_flight jsonb default null)
  returns table (stream_id smallint, wait_ms integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select s.stream_id, least(greatest(0, ceil(extract(epoch from n.due - clock_timestamp()) * 1000)), 86400000)::integer
    from outbox.streams s
   cross join lateral (
         select min(d.due) as due
           from (select 0 as destination_id, '-infinity'::timestamptz as opens_at, false as more
                 union all
                 select q.destination_id, q.opens_at, q.more from outbox.open_queues(s, '-infinity', p_in_flight, false) q
                  where q.opens_at > now() or q.slots > 0 and q.tenant_slots > 0 or q.more) q
          cross join generate_series(0, 9) level(priority)
          cross join lateral (
                (select greatest(h.due, q.opens_at) as due from outbox.heads h
                  where s.ordered and h.stream_id = s.stream_id and h.destination_id = q.destination_id and h.priority = level.priority
                    and h.claim_id is null and not h.blocked
                  order by h.due limit 1)
                union all
                (select greatest(u.due, q.opens_at) from outbox.pending_unordered u
                  where not s.ordered and u.stream_id = s.stream_id and u.destination_id = q.destination_id and u.priority = level.priority
                  order by u.due limit 1)
                union all
                -- More queues than one look takes: only a claim finds out whether something is due.
                (select now() where q.more and level.priority = 0)) d) n
   where s.stream_id = any (p_stream_ids) and n.due is not null;
end
$$;
comment on function outbox.next_due(smallint[], jsonb) is 'Milliseconds until each stream has something due.';
