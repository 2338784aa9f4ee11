-- Asks for the run of an attempt. Whoever sees a run sees its inputs, so they say which job it is and where to report, and nothing about
-- the customer or what is to be made: that is answered to the run that claims the job.
create or replace function provisioning.dispatch(
  p_job provisioning.jobs, p_task text, p_number smallint, p_not_before timestamptz default null
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform provisioning.send(p_job, p_task, p_number, 'dispatch', jsonb_build_object(
    'ref', (select s.ref from provisioning.settings s where s.workspace_id = p_job.workspace_id), 'job_id', p_job.id,
    'inputs', jsonb_build_object('attempt', p_number::text, 'task', p_task, 'workspace', p_job.workspace_id,
                                 'callback_url', provisioning.callback_address(p_job.workspace_id))), 'dispatch', p_not_before);
end
$$;
comment on function provisioning.dispatch(provisioning.jobs, text, smallint, timestamptz)
  is 'Enqueues the dispatch of an attempt''s run. Nullable: p_not_before.';
