-- A job and its request end together, and in the same way; and a job belongs to its request's customer.
create or replace function provisioning.verify_ends(p_job_ids uuid[]) returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'I7', 'ends_differ', j.request_id, format('the request is %s, and its job is %s', r.state, j.state)
    from provisioning.jobs j join capacity.requests r on r.id = j.request_id
   where j.id = any (p_job_ids)
     and r.state::text <> case j.state when 'running' then 'COMPLETED' when 'given_up' then 'FAILED' when 'cancelled' then 'CANCELLED'
                                       else 'PROVISIONING' end
  union all
  select 'I7', 'run_unended', j.request_id, format('the run of attempt %s succeeded, and the job is %s', a.number, j.state)
    from provisioning.jobs j join provisioning.attempts a on a.job_id = j.id and a.task = 'provision' and a.status = 'succeeded'
   where j.id = any (p_job_ids) and j.state <> 'running'
  union all
  select 'I7', 'customer_differs', j.request_id, 'the job and its request belong to different customers'
    from provisioning.jobs j
   where j.id = any (p_job_ids) and j.customer_key is distinct from capacity.customer_key_of(j.request_id);
$$;
comment on function provisioning.verify_ends(uuid[]) is 'Jobs that ended differently from their requests.';
