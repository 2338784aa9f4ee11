-- Records how an attempt ended. An attempt ends once. If its run reported the end, or GitHub showed it, the run has ended too; a run whose
-- attempt we ended may continue for a while.
create or replace function provisioning.end_attempt(
  p_attempt provisioning.attempts, p_status text, p_because text, p_error text default null, p_failed_step text default null,
  p_never_ran boolean default false
) returns provisioning.attempts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt provisioning.attempts;
  v_over text := case when p_never_ran then 'never_ran' when p_because = 'reported' then 'reported'
                      when p_because = 'run_ended' then 'seen' end;
begin
  update provisioning.attempts a
     set status = p_status, ended_because = p_because, ended_at = clock_timestamp(), error = p_error,
         over_because = v_over, over_at = case when v_over is not null then clock_timestamp() end,
         -- The sweep has not read yet where a short run is.
         run_url = coalesce(a.run_url, (select left(s.runs #>> '{0,url}', 500) from provisioning.sightings s
                                         where s.job_id = a.job_id and s.task = a.task and s.number = a.number
                                           and s.runs #>> '{0,url}' ~ '^https?://' limit 1)),
         failed_step = coalesce(p_failed_step, case when p_status <> 'succeeded' then a.step end)
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number and a.ended_at is null
  returning a.* into strict v_attempt;
  return v_attempt;
end
$$;
comment on function provisioning.end_attempt(provisioning.attempts, text, text, text, text, boolean)
  is 'Ends an attempt. Nullable: p_error, p_failed_step.';
