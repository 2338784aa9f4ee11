-- Hook of capacity.customer_erased: erases what runs of the request's job reported up to the moment of the erasure. That they reported
-- something, and when, stays. Reasons that people gave are among the request's own texts. Messages to GitHub name no customer.
create or replace function provisioning.erase_texts(p_erasure jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job_id uuid := (select j.id from provisioning.jobs j where j.request_id = p_erasure ->> 'request_id');
  v_to timestamptz := (p_erasure ->> 'to')::timestamptz;
begin
  update provisioning.attempts a
     set step = case when a.step is not null then '(erased)' end, error = case when a.error is not null then '(erased)' end,
         failed_step = case when a.failed_step is not null then '(erased)' end
   where a.job_id = v_job_id and coalesce(a.ended_at, a.heartbeat_at, a.created_at) <= v_to
     and num_nonnulls(a.step, a.error, a.failed_step) > 0;
  update provisioning.steps s set step = '(erased)' where s.job_id = v_job_id and s.at <= v_to and s.step <> '(erased)';
  return null;
end
$$;
comment on function provisioning.erase_texts(jsonb) is 'Erases what runs of a job reported. Nullable: result.';
