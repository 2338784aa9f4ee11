-- When a job that waits for people fails permanently, and its request with it, so that nothing is held longer; null if time does not decide
-- that. An unpaid request may be provided by hand if no workflow does it, which may take any time.
create or replace function provisioning.gives_up_at(p_job provisioning.jobs) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_job.state = 'failed' then p_job.failed_at
           when p_job.state = 'waiting' and (p_job.asked_for in ('cleanup_failed', 'no_address')
                or p_job.asked_for in ('person', 'not_connected') and r.offer is not null) then p_job.asked_since
           when p_job.state = 'queued' and p_job.asked_for = 'dispatch'
             then (select a.due_at from provisioning.attempts a
                    where a.job_id = p_job.id and a.task = 'provision' and a.number = p_job.attempts)
         end + make_interval(hours => provisioning.give_up_hours(p_job.workspace_id))
    from capacity.requests r where r.id = p_job.request_id;
$$;
comment on function provisioning.gives_up_at(provisioning.jobs)
  is 'When a job fails permanently because nobody acted. Nullable: result.';
