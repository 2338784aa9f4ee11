-- Provisioning jobs as the API shows them, with the state of their last attempt: the caller's own rights decide which rows there are.
create or replace view public.provisioning_jobs with (security_invoker = true) as
select j.id, j.request_id, j.workspace_id, j.status, j.state, j.version, j.region, a.run_id as workflow_run_id, a.run_attempt, a.run_url,
       j.attempts, j.most_attempts, j.cleanup, a.step, a.progress, a.error, a.failed_step, a.ended_because, a.claimed_at,
       a.heartbeat_at as last_heartbeat_at, j.failed_at, j.completed_at, j.created_at, j.updated_at
  from provisioning.jobs j
  left join provisioning.attempts a on a.job_id = j.id and a.task = 'provision' and a.number = j.attempts
 where (select directory.reader_key_valid());
comment on view public.provisioning_jobs is 'Provisioning jobs: the current state of each.';
