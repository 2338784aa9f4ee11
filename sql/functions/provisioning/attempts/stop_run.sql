-- Has the run of an attempt cancelled, whichever it is: every run that shows its mark. What is enqueued behind it waits until they have
-- ended.
create or replace function provisioning.stop_run(p_attempt provisioning.attempts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform provisioning.send(p_attempt, 'stop', jsonb_build_object('operation', 'stop', 'since', provisioning.since(p_attempt)), 'stop');
end
$$;
comment on function provisioning.stop_run(provisioning.attempts) is 'Enqueues the end of an attempt''s runs.';
