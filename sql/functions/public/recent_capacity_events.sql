-- What happened since a moment, as far as the caller may read it: runs with the caller's rights, so row-level security decides.
--
-- The answer also says how far it can be relied upon. An event that is written before `at` may become visible later, while its
-- transaction goes on; all those have a number below xmax. Once a later answer's xmin has reached that xmax, nothing from before `at`
-- is still to come. So a reader that keeps (at, xmax) of its calls can move on without missing anything, with neither a lock nor a
-- counter that writers would have to share.
create or replace function public.recent_capacity_events(p_since timestamptz, p_limit integer default 500) returns jsonb
language plpgsql stable security invoker set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'at', floor(extract(epoch from statement_timestamp()) * 1000000)::bigint,
    'xmin', pg_snapshot_xmin(pg_current_snapshot())::text,
    'xmax', pg_snapshot_xmax(pg_current_snapshot())::text,
    'events', coalesce((
      select jsonb_agg(jsonb_build_object(
               'id', e.id, 'capacity_request_id', e.capacity_request_id, 'seq', e.seq, 'event_type', e.event_type, 'actor_type', e.actor_type,
               'actor_id', e.actor_id, 'via', e.via, 'state_before', e.state_before, 'state_after', e.state_after, 'payload', e.payload,
               'created_at', e.created_at) order by e.created_at, e.capacity_request_id, e.seq)
        from (select * from public.capacity_request_events x
               where x.created_at >= p_since order by x.created_at limit least(greatest(p_limit, 1), 1000)) e), '[]'));
end
$$;
comment on function public.recent_capacity_events(timestamptz, integer) is 'Events since a moment that the caller may read, and how complete the answer is.';
