-- Asks GitHub for the state of an attempt's run, because callbacks and webhooks get lost.
create or replace function provisioning.watch_run(p_attempt provisioning.attempts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform provisioning.send(p_attempt, 'watch',
    jsonb_strip_nulls(jsonb_build_object('operation', 'watch', 'since', provisioning.since(p_attempt), 'run_id', p_attempt.run_id)),
    'watch-' || p_attempt.watches + 1);
  update provisioning.attempts a set watches = a.watches + 1, watched_at = clock_timestamp()
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number;
end
$$;
comment on function provisioning.watch_run(provisioning.attempts) is 'Enqueues a question to GitHub about an attempt''s run.';
