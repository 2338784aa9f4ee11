-- The actor of everything that happens because time passes.
create or replace function capacity.timer_actor() returns capacity.actor
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return row('cron', 'capacity-request-timers', 'cron')::capacity.actor;
end
$$;
comment on function capacity.timer_actor() is 'The actor of everything that timers do.';
