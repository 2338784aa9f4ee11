-- Enqueues one call of GitHub for an attempt: dispatch, stop or watch. Rows of a job that start and stop runs keep their order; looking at
-- a run has a lane of its own, so that it never holds those up, and is not worth doing late. A stop that overtakes its own dispatch
-- replaces it, and nothing is started.
create or replace function provisioning.send(
  p_job provisioning.jobs, p_task text, p_number smallint, p_what text, p_payload jsonb, p_idempotency_key text,
  p_not_before timestamptz default null
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings provisioning.settings;
  v_mark text := provisioning.run_mark(p_job.id, p_task, p_number);
begin
  select s.* into strict v_settings from provisioning.settings s where s.workspace_id = p_job.workspace_id;
  perform outbox.add_row(
    false, p_job.workspace_id, 'provisioning', case p_what when 'watch' then 'watch:' else 'job:' end || p_job.id, v_mark,
    p_idempotency_key, 'github-actions',
    jsonb_build_object(
      'owner', v_settings.owner, 'repo', v_settings.repo, 'run_mark', v_mark,
      'workflow', case p_task when 'cleanup' then v_settings.cleanup_workflow else v_settings.provision_workflow end) || p_payload,
    p_not_before => p_not_before, p_expires_at => case p_what when 'watch' then clock_timestamp() + interval '10 minutes' end,
    p_coalesce_key => case p_what when 'watch' then 'watch' else v_mark end,
    p_destination => 'github:' || v_settings.owner || '/' || v_settings.repo,
    p_captures => jsonb_build_object(p_task || '-' || p_number, case p_what when 'dispatch' then '["run"]'::jsonb else '["runs"]' end));
end
$$;
comment on function provisioning.send(provisioning.jobs, text, smallint, text, jsonb, text, timestamptz)
  is 'Enqueues a call of GitHub about an attempt. Nullable: p_not_before.';
