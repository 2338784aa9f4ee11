-- Applies a callback by the rules and answers the run: whether to continue, and what to make.
create or replace function provisioning.apply_callback(
  p_job provisioning.jobs, p_attempt provisioning.attempts, p_outcome text, p_why text, p_sent jsonb
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := p_job;
  v_attempt provisioning.attempts := p_attempt;
  v_claimed record;
begin
  if p_outcome = 'over' then
    perform provisioning.run_over(v_attempt, 'reported');
    perform provisioning.pass_turn(v_job);
    return jsonb_build_object('go_on', false, 'outcome', 'stop', 'why', p_why);
  elsif p_outcome in ('stop', 'ignored') or p_outcome = 'repeated' and v_attempt.status <> 'claimed' then
    return jsonb_build_object('go_on', false, 'outcome', p_outcome, 'why', p_why);
  end if;
  if v_attempt.status = 'dispatched' then
    v_claimed := provisioning.claim(v_job, v_attempt, (p_sent ->> 'run_id')::bigint, (p_sent ->> 'run_attempt')::integer);
    v_job := v_claimed.job;
    v_attempt := v_claimed.attempt;
  end if;
  if p_outcome = 'heartbeat' or p_outcome = 'claim' and p_sent ? 'step' then
    perform provisioning.note_step(v_attempt, p_sent ->> 'step', (p_sent ->> 'progress')::smallint);
  elsif v_attempt.task = 'cleanup' and p_outcome in ('succeeded', 'failed') then
    perform provisioning.cleanup_ended(v_job, v_attempt, p_outcome = 'succeeded', 'reported', p_sent ->> 'error', p_sent ->> 'failed_step');
  elsif p_outcome = 'succeeded' then
    perform provisioning.complete(v_job, v_attempt, 'reported', 'callback');
  elsif p_outcome = 'failed' then
    perform provisioning.attempt_failed(v_job, v_attempt, 'reported', p_sent ->> 'error', p_sent ->> 'failed_step', 'callback');
  end if;
  if p_outcome in ('succeeded', 'failed') then
    return jsonb_build_object('go_on', false, 'outcome', 'accepted', 'why', p_why);
  end if;
  return jsonb_build_object(
    'go_on', true, 'outcome', case p_outcome when 'repeated' then 'repeated' else 'accepted' end, 'why', p_why,
    -- Nothing about the customer: the request's id leads to that for those who may see it.
    'job', (select jsonb_build_object(
              'request_id', r.id, 'size', r.requested_size, 'quantity', r.quantity, 'region', r.region,
              'duration_days', r.expected_duration_days, 'attempt', v_attempt.number, 'cleans', v_attempt.cleans, 'heartbeat_seconds', 60,
              'limit_minutes', s.limit_minutes)
              from capacity.requests r join provisioning.settings s on s.workspace_id = r.workspace_id
             where r.id = v_job.request_id));
end
$$;
comment on function provisioning.apply_callback(provisioning.jobs, provisioning.attempts, text, text, jsonb)
  is 'Applies a callback and returns the answer to the run.';
