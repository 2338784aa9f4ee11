-- What the run that has a job needs to know to carry it out. Nothing about the customer: the request's id leads to that for those who may.
create or replace function provisioning.terms_for_run(p_job provisioning.jobs, p_attempt provisioning.attempts) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
           'request_id', r.id, 'size', r.requested_size, 'quantity', r.quantity, 'region', r.region,
           'duration_days', r.expected_duration_days, 'attempt', p_attempt.number, 'cleans', p_attempt.cleans, 'heartbeat_seconds', 60,
           'limit_minutes', s.limit_minutes)
    from capacity.requests r join provisioning.settings s on s.workspace_id = r.workspace_id
   where r.id = p_job.request_id;
$$;
comment on function provisioning.terms_for_run(provisioning.jobs, provisioning.attempts)
  is 'The terms of a job, for the run that claimed it.';
