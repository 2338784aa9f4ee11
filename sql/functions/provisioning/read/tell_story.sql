-- Hook of capacity.story_told: the status of a request's job, for its messages.
create or replace function provisioning.tell_story(p_argument jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('job', jsonb_build_object(
           'state', j.state, 'attempt', j.attempts, 'most_attempts', j.most_attempts, 'cleanup', j.cleanup, 'run_url', a.run_url,
           'step', case when j.state = 'provisioning' then a.step end, 'progress', case when j.state = 'provisioning' then a.progress end,
           'words', case when j.state = 'waiting' and j.cleanup = 'failed' then 'waiting for somebody to clean up'
                         else provisioning.state_words(j.state) end))
    from provisioning.jobs j
    left join provisioning.attempts a on a.job_id = j.id and a.task = 'provision' and a.number = j.attempts
   where j.request_id = p_argument ->> 'request_id';
$$;
comment on function provisioning.tell_story(jsonb) is 'The status of a request''s job. Nullable: result.';
