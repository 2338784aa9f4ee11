-- Everything about one job: its state, its attempts with their steps, and its log with the reasons that people gave.
create or replace function provisioning.job_json(p_job provisioning.jobs) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'id', p_job.id, 'request_id', p_job.request_id, 'workspace_id', p_job.workspace_id, 'status', p_job.status, 'state', p_job.state,
    'version', p_job.version, 'region', p_job.region, 'attempts', p_job.attempts, 'most_attempts', p_job.most_attempts,
    'cleanup', p_job.cleanup, 'held_by', provisioning.held_by(p_job.id), 'has_turn', p_job.has_turn,
    'waits_for', provisioning.waits_of(p_job), 'gives_up_at', provisioning.gives_up_at(p_job), 'failed_at', p_job.failed_at,
    'completed_at', p_job.completed_at, 'created_at', p_job.created_at, 'updated_at', p_job.updated_at,
    'runs', (select coalesce(jsonb_agg(jsonb_build_object(
               'task', a.task, 'attempt', a.number, 'status', a.status, 'cleans', a.cleans, 'run_id', a.run_id,
               'run_attempt', a.run_attempt, 'run_url', a.run_url, 'step', a.step, 'progress', a.progress,
               'ended_because', a.ended_because, 'error', a.error, 'failed_step', a.failed_step, 'callbacks', a.heard,
               'dispatched_at', a.created_at, 'claimed_at', a.claimed_at, 'last_heartbeat_at', a.heartbeat_at, 'ended_at', a.ended_at,
               'over_at', a.over_at, 'over_because', a.over_because,
               'steps', (select coalesce(jsonb_agg(jsonb_build_object('at', s.at, 'step', s.step, 'progress', s.progress)
                                                   order by s.n), '[]')
                           from provisioning.steps s where s.job_id = a.job_id and s.task = a.task and s.attempt = a.number))
               order by a.created_at, a.task, a.number), '[]')
               from provisioning.attempts a where a.job_id = p_job.id),
    'history', (select coalesce(jsonb_agg(jsonb_build_object(
                  'seq', e.seq, 'event', e.event, 'state_before', e.state_before, 'state_after', e.state_after, 'attempt', e.attempt,
                  'actor_type', e.actor_type, 'actor_id', e.actor_id, 'via', e.via,
                  'reason', capacity.free_text(p_job.request_id, e.reason_hash), 'created_at', e.created_at) order by e.seq), '[]')
                  from provisioning.events e where e.job_id = p_job.id));
$$;
comment on function provisioning.job_json(provisioning.jobs) is 'A job with its runs, their steps and its history.';
