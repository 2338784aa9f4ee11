-- Enqueues one call of GitHub for an attempt: dispatch, stop or watch. Rows of a job that start and stop runs keep their order; looking at
-- a run has a lane of its own, so that it never holds those up, and is not worth doing late: of the same run only the last look counts. A
-- stop replaces its own dispatch where that has not been sent.
create or replace function provisioning.send(
  p_attempt provisioning.attempts, p_what text, p_payload jsonb, p_idempotency_key text, p_not_before timestamptz default null
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_mark text := provisioning.run_mark(p_attempt.job_id, p_attempt.task, p_attempt.number);
begin
  perform outbox.add_row(
    false, p_attempt.workspace_id, 'provisioning', case p_what when 'watch' then 'watch:' else 'job:' end || p_attempt.job_id, v_mark,
    p_idempotency_key, 'github-actions',
    jsonb_build_object('owner', p_attempt.owner, 'repo', p_attempt.repo, 'workflow', p_attempt.workflow, 'run_mark', v_mark) || p_payload,
    p_not_before => p_not_before, p_expires_at => case p_what when 'watch' then clock_timestamp() + interval '10 minutes' end,
    p_coalesce_key => v_mark,
    p_destination => 'github:' || p_attempt.owner || '/' || p_attempt.repo,
    p_captures => jsonb_build_object(p_attempt.task || '-' || p_attempt.number,
                                     case p_what when 'dispatch' then '["run"]'::jsonb else '["runs"]' end));
end
$$;
comment on function provisioning.send(provisioning.attempts, text, jsonb, text, timestamptz)
  is 'Enqueues a call of GitHub about an attempt. Nullable: p_not_before.';
