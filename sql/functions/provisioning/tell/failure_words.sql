-- How an attempt failed, in our words; what the run reported is quoted separately.
create or replace function provisioning.failure_words(p_job provisioning.jobs, p_attempt provisioning.attempts, p_last boolean) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return format('Attempt %s of %s %s.%s', p_attempt.number, p_job.most_attempts,
    case p_attempt.ended_because
      when 'stale' then 'gave no sign of life, and is being stopped'
      when 'time_limit' then 'took too long, and is being stopped'
      when 'run_ended' then 'ended without reporting'
      when 'rerun' then 'was restarted at GitHub, which is not an attempt, and is being stopped'
      when 'not_dispatched' then 'could not be started'
      when 'not_served' then 'could not be asked for'
      else 'failed' end,
    case when p_last then ''
         else ' Try again with the button, or with: headroom jobs retry ' || p_job.request_id end);
end
$$;
comment on function provisioning.failure_words(provisioning.jobs, provisioning.attempts, boolean) is 'How an attempt failed, in words.';
