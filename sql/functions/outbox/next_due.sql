-- How many milliseconds until something of these streams is due; zero when something is, null when nothing is dated.
-- A sleeping relay asks once before it sleeps, so that a retry or a slot is met on time.
create or replace function outbox.next_due(p_stream_ids smallint[]) returns table (stream_id smallint, wait_ms integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select s.stream_id, least(greatest(0, ceil(extract(epoch from n.due - clock_timestamp()) * 1000)), 86400000)::integer
    from outbox.streams s
   cross join lateral (
         select min(d.due) as due
           from generate_series(0, 9) level(priority)
          cross join lateral (
                (select h.due from outbox.heads h
                  where s.ordered and h.stream_id = s.stream_id and h.priority = level.priority and h.claim_id is null and not h.blocked
                  order by h.due limit 1)
                union all
                (select u.due from outbox.pending_unordered u
                  where not s.ordered and u.stream_id = s.stream_id and u.priority = level.priority
                  order by u.due limit 1)) d) n
   where s.stream_id = any (p_stream_ids) and n.due is not null;
end
$$;
comment on function outbox.next_due(smallint[]) is 'Milliseconds until each stream has something due.';
