-- One batch of the verification of jobs (I7), in the order of their requests' ids. The next batch begins after last_id; the last batch has
-- last_id null, and also looks for requests without a job. Stable on purpose: each call is one snapshot, and nothing is held between calls.
create or replace function provisioning.verify_jobs(
  p_after text default '', p_limit integer default 2000, p_workspace_id text default null,
  out last_id text, out jobs bigint, out findings jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  v_ids uuid[];
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 100000 jobs.');
  end if;
  select count(*), max(q.request_id), array_agg(q.id) into jobs, last_id, v_ids
    from (select j.id, j.request_id from provisioning.jobs j
           where j.request_id > coalesce(p_after, '') and (p_workspace_id is null or j.workspace_id = p_workspace_id)
           order by j.request_id limit p_limit) q;
  last_id := case when jobs = p_limit then last_id end;
  select coalesce(jsonb_agg(to_jsonb(f) order by f.subject, f.code), '[]') into findings
    from (select * from provisioning.verify_logs(v_ids)
          union all
          select * from provisioning.verify_attempts(v_ids)
          union all
          select * from provisioning.verify_ends(v_ids)
          union all
          select * from provisioning.verify_waits(v_ids)
          union all
          select 'I7', 'job_missing', r.id, 'the request is being provisioned, and there is no job for it'
            from capacity.requests r
           where last_id is null and r.state = 'PROVISIONING' and (p_workspace_id is null or r.workspace_id = p_workspace_id)
             and not exists (select from provisioning.jobs j where j.request_id = r.id)
             -- The sweep makes the jobs of requests that are older than jobs.
             and exists (select from capacity.timer_runs t where t.ended_at > r.state_since + interval '10 minutes')) f;
end
$$;
comment on function provisioning.verify_jobs(text, integer, text) is 'Verifies a batch of jobs. Nullable: last_id.';
