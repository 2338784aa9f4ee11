-- Receives a callback whose signature was verified. It is fenced by job, attempt, run and try of the run; callback_rules() decides what it
-- may change. The insert detects a repeated callback, in one transaction with everything that follows.
create or replace function provisioning.receive_callback(p_workspace_id text, p_sent jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := provisioning.callback_problem(p_sent);
  v_id uuid := case when v_problem is null then (p_sent ->> 'id')::uuid end;
  v_run_id bigint := case when v_problem is null then (p_sent ->> 'run_id')::bigint end;
  v_run_attempt integer := case when v_problem is null then (p_sent ->> 'run_attempt')::integer end;
  v_job provisioning.jobs;
  v_attempt provisioning.attempts;
  v_rule record;
begin
  if v_problem is not null then
    return provisioning.refuse_callback(p_workspace_id, null, null, 'invalid_input', 'The callback is not well formed.', v_problem);
  end if;
  -- Another workspace's job gets the same answer as one that does not exist.
  select j.* into v_job from provisioning.jobs j where j.id = (p_sent ->> 'job_id')::uuid and j.workspace_id = p_workspace_id;
  if v_job.id is null then
    return provisioning.refuse_callback(p_workspace_id, v_id, null, 'not_found', 'There is no such job in this workspace.',
                                        p_sent ->> 'job_id');
  end if;
  v_job := provisioning.lock_job(v_job.request_id);
  select a.* into v_attempt from provisioning.attempts a
   where a.job_id = v_job.id and a.task = p_sent ->> 'task' and a.number = (p_sent ->> 'attempt')::smallint;
  if v_attempt.job_id is null then
    return provisioning.refuse_callback(p_workspace_id, v_id, v_job.id, 'not_found', 'The job has no such attempt.',
                                        format('%s %s', p_sent ->> 'task', p_sent ->> 'attempt'));
  elsif exists (select from provisioning.attempts a join provisioning.jobs j on j.id = a.job_id
                 where a.run_id = v_run_id and j.workspace_id = p_workspace_id
                   and (a.job_id, a.task, a.number) <> (v_attempt.job_id, v_attempt.task, v_attempt.number)) then
    return provisioning.refuse_callback(p_workspace_id, v_id, v_job.id, 'conflict', 'This run belongs to another attempt.',
                                        'run ' || v_run_id);
  end if;

  select r.* into strict v_rule from provisioning.callback_rules() r
   where r.status = v_attempt.status and r.signal = p_sent ->> 'signal'
     and r.run = provisioning.whose_run(v_attempt, v_run_id, v_run_attempt);
  if v_rule.outcome = 'early' then
    -- The relay that dispatched it may not have settled yet, and a server of an earlier version does not say which run it started: find the
    -- run by its name.
    if coalesce(v_attempt.watched_at, '-infinity') < now() - interval '10 seconds' then
      perform provisioning.watch_run(v_attempt);
    end if;
    return jsonb_build_object(
      'status', 429, 'code', 'too_soon', 'message', v_rule.meaning, 'details', 'too_soon: run ' || v_run_id,
      'hint', 'Say it again in a few seconds. Nothing was changed.', 'retry_after', 5, 'go_on', false);
  end if;
  insert into provisioning.callbacks (workspace_id, id, job_id, task, attempt, run_id, run_attempt, signal, outcome)
  values (p_workspace_id, v_id, v_job.id, v_attempt.task, v_attempt.number, v_run_id, v_run_attempt, p_sent ->> 'signal',
          case when v_rule.outcome in ('repeated', 'ignored', 'stop') then v_rule.outcome when v_rule.outcome = 'over' then 'stop'
               else 'accepted' end)
  on conflict do nothing;
  if not found then
    return jsonb_build_object(
      'status', 409, 'code', 'already_used', 'message', 'This callback was received before.', 'details', 'already_used',
      'hint', 'Each callback has its own id and time. Nothing was changed.', 'go_on', false);
  end if;
  update provisioning.attempts a set heard = a.heard + 1
   where a.job_id = v_attempt.job_id and a.task = v_attempt.task and a.number = v_attempt.number;
  if v_attempt.heard >= 500 then
    -- A run that keeps reporting: delete its callbacks that are too old to be replayed, except the claim and the result.
    delete from provisioning.callbacks c
     where c.job_id = v_attempt.job_id and c.task = v_attempt.task and c.attempt = v_attempt.number
       and c.received_at < now() - interval '11 minutes' and c.received_at > v_attempt.claimed_at
       and not (c.outcome = 'accepted' and c.signal in ('succeeded', 'failed'));
  end if;
  return provisioning.apply_callback(v_job, v_attempt, v_rule.outcome, v_rule.meaning, p_sent);
end
$$;
comment on function provisioning.receive_callback(text, jsonb) is 'Receives a verified callback and returns the answer to the run.';
