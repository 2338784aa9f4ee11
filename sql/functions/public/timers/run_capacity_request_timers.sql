-- Runs the timers now, whatever else runs them: see capacity.run_timers(). p_runner names the caller, for the record of who ran them
-- last.
create or replace function public.run_capacity_request_timers(p_most integer default 200, p_runner text default 'call') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform directory.check_api_key();
  return capacity.run_timers(p_most, p_runner);
end
$$;
comment on function public.run_capacity_request_timers(integer, text) is 'Runs the timers of capacity requests and says what they did.';
