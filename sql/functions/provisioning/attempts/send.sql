-- Enqueues one call of GitHub for an attempt: dispatch, stop or watch. The rows that start and stop a job's runs keep their order. A watch
-- row has its own lane, so that it never delays those, and it expires; only the last one of the same run is sent. A stop replaces its own
-- dispatch if that has not been sent.
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
