-- Records that the run of an ended attempt has ended too: it reported its end, GitHub shows it ended, it never began, or the limit passed.
create or replace function provisioning.run_over(p_attempt provisioning.attempts, p_because text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update provisioning.attempts a set over_at = clock_timestamp(), over_because = p_because
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number and a.ended_at is not null
     and a.over_at is null;
end
$$;
comment on function provisioning.run_over(provisioning.attempts, text) is 'Records that the run of an ended attempt has ended.';
