-- I4, for a range of outbox ids: lines are numbered 1..n and follow one another as the states allow, a row is delivered at most once,
-- and an operator's act has an actor and a reason. A row that may have arrived is resolved before it is redriven, or stays in doubt.
create or replace function outbox.verify_lines(p_after uuid, p_to uuid)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  with line as (
    select a.outbox_id, a.attempt_no, a.state, a.uncertain, a.rail_code, a.error_code, a.actor, a.reason, a.class_id,
           coalesce(lag(a.attempt_no) over w, 0) as last_no, lag(a.state) over w as before, lag(a.rail_code) over w as code_before,
           lag(a.uncertain) over w as uncertain_before,
           count(*) filter (where a.state = 'DISPATCHED' or a.state = 'RESOLVED' and a.rail_code = 'delivered') over w as deliveries
      from outbox.attempts a
     where a.outbox_id > p_after and a.outbox_id <= p_to
    window w as (partition by a.outbox_id order by a.attempt_no)
  ), judged as (
    select l.*,
           case
             when l.attempt_no <> l.last_no + 1 then 'line_missing'
             when l.deliveries > 1 and (l.state = 'DISPATCHED' or l.state = 'RESOLVED' and l.rail_code = 'delivered') then 'delivered_twice'
             when not case
                        when l.before in ('RETRYABLE', 'RELEASED', 'ZOMBIE_REQUEUE', 'RETRY_NOW') and l.state = 'RETRY_NOW' then true
                        when l.before is null or l.before in ('RETRYABLE', 'RELEASED', 'REDRIVEN', 'RETRY_NOW')
                          then l.state in ('DISPATCHING', 'SKIPPED')
                        when l.before = 'DISPATCHING'
                          then l.state in ('DISPATCHED', 'RETRYABLE', 'FAILED', 'ZOMBIE_REQUEUE', 'RELEASED', 'SKIPPED')
                        when l.before = 'ZOMBIE_REQUEUE' then l.state in ('DISPATCHING', 'FAILED', 'SKIPPED')
                        when l.before = 'FAILED' and l.uncertain_before
                          then l.state in ('SKIPPED', 'RESOLVED') or l.state = 'REDRIVEN' and l.uncertain
                        when l.before = 'FAILED' then l.state in ('REDRIVEN', 'SKIPPED')
                        when l.before = 'RESOLVED' and l.code_before = 'not_delivered' then l.state in ('REDRIVEN', 'SKIPPED')
                        else false
                      end then 'line_out_of_turn'
             when (l.state in ('REDRIVEN', 'RESOLVED', 'RETRY_NOW') or l.state = 'SKIPPED' and l.error_code = 'operator')
               and (l.actor is null or l.reason is null)
               then 'line_unexplained'
           end as code
      from line l
  )
  select 'I4', j.code, j.outbox_id::text,
         case j.code
           when 'line_missing'
             then format('line %s follows %s', j.attempt_no, case j.last_no when 0 then 'nothing' else j.last_no::text end)
           when 'delivered_twice' then format('line %s delivers it for the %s. time', j.attempt_no, j.deliveries)
           when 'line_out_of_turn' then format('line %s is %s after %s', j.attempt_no, j.state, coalesce(j.before::text, 'nothing'))
           else format('line %s (%s) has no actor or no reason', j.attempt_no, j.state)
         end
    from judged j where j.code is not null
  union all
  -- Where nothing is ever collected, lines without their row mean that the row was taken away.
  select 'I6', 'row_missing', a.outbox_id::text, 'the archive has lines of a row that is not there'
    from outbox.attempts a
    join outbox.retention_classes c on c.class_id = a.class_id and c.retain_days is null
    left join lateral (select m.outbox_id from outbox.payloads m where m.outbox_id = a.outbox_id offset 0) m on true
   where a.outbox_id > p_after and a.outbox_id <= p_to and a.attempt_no = 1 and m.outbox_id is null;
end
$$;
comment on function outbox.verify_lines(uuid, uuid) is 'Gaps, doubles and wrong successions in the archive lines of a range of rows.';
