-- The log of each job: numbered without gaps, each step allowed and starting where the previous one ended, and the job in the state of the
-- last step.
create or replace function provisioning.verify_logs(p_job_ids uuid[]) returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  with log as (
    select e.*, coalesce(lag(e.seq) over w, 0) as last_seq, coalesce(lag(e.state_after) over w, 'new') as last_state
      from provisioning.events e where e.job_id = any (p_job_ids)
    window w as (partition by e.job_id order by e.seq))
  select 'I7', 'job_step_unlawful', j.request_id || '#' || l.seq,
         format('%s from %s to %s, after %s', l.event, l.state_before, l.state_after, l.last_state)
    from log l join provisioning.jobs j on j.id = l.job_id
   where l.seq <> l.last_seq + 1 or l.state_before <> l.last_state
      or not exists (select from provisioning.transitions() t
                      where t.state_before = l.state_before and t.event = l.event and t.state_after = l.state_after)
  union all
  select 'I7', 'job_differs_from_log', j.request_id,
         format('the job is %s at version %s, its log says %s at %s', j.state, j.version, coalesce(x.state_after, 'nothing'),
                coalesce(x.seq, 0))
    from provisioning.jobs j
    left join lateral (select e.seq, e.state_after from provisioning.events e where e.job_id = j.id order by e.seq desc limit 1) x on true
   where j.id = any (p_job_ids) and (x.seq is distinct from j.version or x.state_after is distinct from j.state);
$$;
comment on function provisioning.verify_logs(uuid[]) is 'Broken logs of jobs.';
