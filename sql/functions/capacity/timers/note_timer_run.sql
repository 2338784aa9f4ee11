-- Writes down that a sweep came to its end, in its runner's own row. A row that another sweep holds at this moment is left to that one,
-- which says the same: nobody waits for somebody's open transaction here. A runner that nobody knows counts as a call.
create or replace function capacity.note_timer_run(p_runner text, p_failures integer) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_runner text;
begin
  select t.runner into v_runner from capacity.timer_runs t
   where t.runner = case when p_runner in ('worker', 'server', 'turn', 'pg_cron') then p_runner else 'call' end
     for update skip locked;
  update capacity.timer_runs t set login = session_user, began_at = now(), ended_at = clock_timestamp(), failures = p_failures
   where t.runner = v_runner;
end
$$;
comment on function capacity.note_timer_run(text, integer) is 'Records a sweep of the timers that came to its end.';
