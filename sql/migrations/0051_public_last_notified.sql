-- When somebody was last told something stands in the lanes of a request and in notify.settled: its version is not asked for any more,
-- and what asked the archive goes. The view that named the old function is made anew by this release.
do $$
begin
  if to_regclass('public.capacity_requests') is not null then
    execute 'create or replace view public.capacity_requests with (security_invoker = true) as '
      || replace(pg_get_viewdef('public.capacity_requests'::regclass), 'capacity.last_notified_at(r.id, r.version)', 'null::timestamptz');
  end if;
end
$$;
drop function if exists capacity.last_notified_at(text, integer);
drop function if exists capacity.last_delivery(text, integer);
