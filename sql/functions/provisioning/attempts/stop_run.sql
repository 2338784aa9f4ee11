-- Has the runs of an attempt cancelled: every run with its mark. What is enqueued behind this waits until they have ended.
create or replace function provisioning.stop_run(p_attempt provisioning.attempts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform provisioning.send(p_attempt, 'stop', jsonb_build_object('operation', 'stop', 'since', provisioning.since(p_attempt)), 'stop');
end
$$;
comment on function provisioning.stop_run(provisioning.attempts) is 'Enqueues the call that stops an attempt''s runs.';
