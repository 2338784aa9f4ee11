-- Whether a job already waits for its next attempt, or has begun it: asking for another attempt then changes nothing.
create or replace function provisioning.is_retried(p_job provisioning.jobs) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select p_job.state = 'waiting' and not p_job.adopted or p_job.state = 'queued' and p_job.attempts > 1;
$$;
comment on function provisioning.is_retried(provisioning.jobs) is 'Whether another attempt of a job was already asked for.';
