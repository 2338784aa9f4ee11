-- Events since a moment, in microseconds since 1970, as far as the caller may read them: it runs with the caller's rights, so
-- row-level security decides.
--
-- A machine also gets to know how complete the answer is. An event that is written before `at` may become visible later, while its
-- transaction is open; all of those transactions have a number below `next`, the first one not assigned yet. (A
-- snapshot's xmax would not do: it is only one more than the last that ended.) Once a later answer's `xmin` has reached that `next`,
-- nothing from before `at` is still missing. So a reader that keeps (at, next) of its calls can move on without missing anything, with
-- neither a lock nor a counter that writers would have to share. Members do not get this: how fast these numbers grow shows how busy
-- everybody is.
create or replace function public.recent_capacity_events(p_since bigint, p_limit integer default 500) returns jsonb
language plpgsql stable security invoker set search_path = pg_catalog, pg_temp
as $$
declare
  v_xmin xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
  return case when current_user = 'service_role'
              then jsonb_build_object('xmin', v_xmin::text, 'next', (v_xmin::text::bigint + age(v_xmin::xid))::text) else '{}' end
  || jsonb_build_object(
    'at', floor(extract(epoch from statement_timestamp()) * 1000000)::bigint,
    'events', coalesce((
      select jsonb_agg(jsonb_build_object(
               'id', e.id, 'capacity_request_id', e.capacity_request_id,
               'workspace_id', (select r.workspace_id from public.capacity_requests r where r.id = e.capacity_request_id),
               'seq', e.seq, 'event_type', e.event_type, 'actor_type', e.actor_type,
               'actor_id', e.actor_id, 'via', e.via, 'state_before', e.state_before, 'state_after', e.state_after, 'payload', e.payload,
               'created_at', e.created_at, 'at', floor(extract(epoch from e.created_at) * 1000000)::bigint)
               order by e.created_at, e.capacity_request_id, e.seq)
        from (select * from public.capacity_request_events x
               where x.created_at >= timestamptz 'epoch' + p_since * interval '1 microsecond'
               order by x.created_at limit least(greatest(p_limit, 1), 1000)) e), '[]'));
end
$$;
comment on function public.recent_capacity_events(bigint, integer)
  is 'Events since a moment that the caller may read, and how complete the answer is.';
