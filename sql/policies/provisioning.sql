-- Who sees which jobs: those who see the request, and those who work on jobs or oversee everything, in the workspace of their claims.
-- Secrets are elsewhere; settings and what is kept about callbacks are for operators and auditors of the installation.
select directory.protect_tables('provisioning');

create policy members on provisioning.jobs for select to authenticated using (
  workspace_id = (select directory.reader_workspace())
  and (workspace_id = (select directory.reader_workspace('{admin,auditor,operator}'))
       or exists (select from capacity.requests r where r.id = jobs.request_id))
);
create policy members on provisioning.attempts for select to authenticated using (
  exists (select from provisioning.jobs j where j.id = attempts.job_id)
);
create policy members on provisioning.steps for select to authenticated using (
  exists (select from provisioning.jobs j where j.id = steps.job_id)
);
