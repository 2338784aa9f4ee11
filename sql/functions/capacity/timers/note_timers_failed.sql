-- Records that a sweep failed as a whole. The sweep's own transaction is rolled back, so its runner records it afterwards.
create or replace function capacity.note_timers_failed(p_runner text, p_code text) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  update capacity.timer_runs t set failed_at = clock_timestamp(), failed_code = left(p_code, 64)
   where t.runner = (select r.runner from capacity.timer_runs r where r.runner = p_runner for update skip locked)
$$;
comment on function capacity.note_timers_failed(text, text) is 'Records a sweep of the timers that failed as a whole.';
