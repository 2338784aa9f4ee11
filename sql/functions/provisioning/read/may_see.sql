-- Whether a member may see a job: those who may read its request, and operators, who also handle jobs of requests that have ended.
create or replace function provisioning.may_see(p_job provisioning.jobs, p_member_id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from directory.standings s
                  where s.workspace_id = p_job.workspace_id and s.member_id = p_member_id
                    and (s.roles && array['operator', 'admin', 'auditor']
                         or capacity.may_read((select r from capacity.requests r where r.id = p_job.request_id),
                                              row(s.*)::directory.standing)));
$$;
comment on function provisioning.may_see(provisioning.jobs, text) is 'Whether this member of the job''s workspace may see it.';
