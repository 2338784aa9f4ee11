-- Begins an attempt and asks for its run in the repository that the settings name now; the run is stopped and looked for there, even if the
-- settings change.
create or replace function provisioning.begin_attempt(
  p_job provisioning.jobs, p_task text, p_number smallint, p_cleans smallint default null, p_not_before timestamptz default null
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings provisioning.settings;
  v_attempt provisioning.attempts;
begin
  select s.* into strict v_settings from provisioning.settings s where s.workspace_id = p_job.workspace_id;
  insert into provisioning.attempts (job_id, task, number, cleans, workspace_id, owner, repo, workflow, due_at)
  values (p_job.id, p_task, p_number, p_cleans, p_job.workspace_id, v_settings.owner, v_settings.repo,
          case p_task when 'cleanup' then v_settings.cleanup_workflow else v_settings.provision_workflow end,
          greatest(clock_timestamp(), p_not_before))
  returning * into v_attempt;
  -- Anyone who sees a run sees its inputs, so they contain only the job and the address to report to, and nothing about the customer or
  -- what is to be made: the run that claims the job gets that in the answer.
  perform provisioning.send(v_attempt, 'dispatch', jsonb_build_object(
    'ref', v_settings.ref, 'job_id', p_job.id,
    'inputs', jsonb_build_object('attempt', p_number::text, 'task', p_task, 'workspace', p_job.workspace_id,
                                 'callback_url', provisioning.callback_address(p_job.workspace_id))), 'dispatch', p_not_before);
end
$$;
comment on function provisioning.begin_attempt(provisioning.jobs, text, smallint, smallint, timestamptz)
  is 'Begins an attempt and enqueues the dispatch of its run. Nullable: p_cleans, p_not_before.';
