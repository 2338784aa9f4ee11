-- The attempts of each job: as many as the job counts and may have, at most one open and only while the job is in progress. Each has the
-- one row that asked for its run, a cleanup if it failed after it may have run, and the callback that ended it. No callback of a run other
-- than the claiming one was ever applied. A job has its customer's turn as long as a run of it may continue.
create or replace function provisioning.verify_attempts(p_job_ids uuid[])
returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'I7', 'attempts_miscounted', j.request_id, format('the job counts %s attempts, there are %s, the last of them number %s',
                                                           j.attempts, count(a.number), coalesce(max(a.number), 0))
    from provisioning.jobs j left join provisioning.attempts a on a.job_id = j.id and a.task = 'provision'
   where j.id = any (p_job_ids)
   group by j.id having count(a.number) <> j.attempts or coalesce(max(a.number), 0) <> j.attempts or j.attempts > j.most_attempts
  union all
  select 'I7', 'attempt_out_of_step', j.request_id, format('the job is %s, and its open attempts are: %s', j.state,
                                                           coalesce(string_agg(a.status, ', '), 'none'))
    from provisioning.jobs j
    left join provisioning.attempts a on a.job_id = j.id and a.task = 'provision' and a.status in ('dispatched', 'claimed')
   where j.id = any (p_job_ids)
   group by j.id
  having coalesce(string_agg(a.status, ', '), 'none')
         <> case j.state when 'queued' then 'dispatched' when 'provisioning' then 'claimed' else 'none' end
  union all
  select 'I7', 'cleanup_out_of_step', j.request_id, format('cleaning up is %s, and %s are open', j.cleanup, count(a.number))
    from provisioning.jobs j
    left join provisioning.attempts a on a.job_id = j.id and a.task = 'cleanup' and a.status in ('dispatched', 'claimed')
   where j.id = any (p_job_ids)
   group by j.id having count(a.number) <> (j.cleanup = 'under_way')::integer
  union all
  select 'I7', 'turn_out_of_step', j.request_id,
         format('it %s the turn, and the runs that may go on are: %s', case when j.has_turn then 'has' else 'does not have' end, r.runs)
    from provisioning.jobs j
   cross join lateral (select coalesce(string_agg(a.task || ' ' || a.number, ', '), 'none') as runs, count(*) as n
                         from provisioning.attempts a where a.job_id = j.id and a.over_at is null) r
   where j.id = any (p_job_ids) and j.has_turn <> (r.n > 0)
     -- Before cleanups were a reason to wait, another job of the customer may have begun next to one.
     and (j.has_turn or not exists (select from provisioning.jobs o where o.workspace_id = j.workspace_id
                                       and o.customer_key = j.customer_key and o.id <> j.id and o.has_turn))
  union all
  select 'I7', 'dispatch_missing', provisioning.run_mark(a.job_id, a.task, a.number), 'no outbox row asked for the run of this attempt'
    from provisioning.attempts a
   where a.job_id = any (p_job_ids)
     and not exists (select from outbox.rows o
                      where o.stream_id = outbox.stream_id('provisioning') and o.idempotency_key = 'dispatch'
                        and o.instruction_id = provisioning.run_mark(a.job_id, a.task, a.number))
  union all
  select 'I7', 'stranger_obeyed', provisioning.run_mark(a.job_id, a.task, a.number),
         format('callback %s of run %s was applied, but the attempt belongs to run %s', c.id, c.run_id, coalesce(a.run_id::text, 'nobody'))
    from provisioning.attempts a
    join provisioning.callbacks c on c.job_id = a.job_id and c.task = a.task and c.attempt = a.number and c.outcome = 'accepted'
   where a.job_id = any (p_job_ids) and (a.run_id, a.run_attempt) is distinct from (c.run_id, c.run_attempt)
  union all
  select 'I7', 'claim_unheard', provisioning.run_mark(a.job_id, a.task, a.number),
         format('run %s claimed it, but no callback says so', a.run_id)
    from provisioning.attempts a
   where a.job_id = any (p_job_ids) and a.run_id is not null
     and not exists (select from provisioning.callbacks c
                      where c.job_id = a.job_id and c.task = a.task and c.attempt = a.number and c.outcome = 'accepted')
  union all
  select 'I7', 'result_unheard', provisioning.run_mark(a.job_id, a.task, a.number), format('it %s, but no callback says so', a.status)
    from provisioning.attempts a
   where a.job_id = any (p_job_ids) and a.ended_because = 'reported'
     and not exists (select from provisioning.callbacks c
                      where c.job_id = a.job_id and c.task = a.task and c.attempt = a.number and c.outcome = 'accepted'
                        and c.signal = a.status)
  union all
  select 'I7', 'cleanup_missing', provisioning.run_mark(a.job_id, a.task, a.number),
         format('it %s, and nothing cleaned up after it', a.status)
    from provisioning.attempts a
   where a.job_id = any (p_job_ids) and a.task = 'provision' and a.status in ('failed', 'stopped')
     and a.ended_because not in ('not_dispatched', 'not_served')
     and not exists (select from provisioning.attempts c where c.job_id = a.job_id and c.cleans = a.number)
  union all
  select 'I7', 'cleanup_unproven', j.request_id, 'it is marked as cleaned up, but neither a run nor a person cleaned up'
    from provisioning.jobs j
   where j.id = any (p_job_ids) and j.cleanup = 'done'
     and not exists (select from provisioning.events e where e.job_id = j.id and e.event = 'CLEANED')
     and (select c.status from provisioning.attempts c where c.job_id = j.id and c.task = 'cleanup' order by c.number desc limit 1)
         is distinct from 'succeeded'
$$;
comment on function provisioning.verify_attempts(uuid[]) is 'Attempts that do not fit their job or their callbacks.';
