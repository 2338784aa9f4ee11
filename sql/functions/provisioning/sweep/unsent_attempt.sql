-- The open attempt of a job whose dispatch is overdue: no relay serves it, or GitHub cannot be reached. A dispatch may wait as long as a
-- run may be silent.
create or replace function provisioning.unsent_attempt(p_job provisioning.jobs) returns provisioning.attempts
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select a from provisioning.attempts a
   where a.job_id = p_job.id and a.status = 'dispatched' and a.sent_at is null
     and a.due_at <= now() - coalesce((select s.stale_minutes from provisioning.settings s where s.workspace_id = p_job.workspace_id), 10)
                             * interval '1 minute'
   order by a.task limit 1;
$$;
comment on function provisioning.unsent_attempt(provisioning.jobs)
  is 'An attempt whose dispatch has waited for too long. Nullable: result.';
