-- Records which runs of a job's ended attempts have ended, by the outcome of the calls of GitHub: the stop was delivered, which happens
-- once all of them have ended; or the dispatch was never tried and was replaced by the stop. A relay may have taken the dispatch just
-- before that, so this waits a minute.
create or replace function provisioning.note_ended_runs(p_job_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt provisioning.attempts;
  v_calls record;
begin
  for v_attempt in select a.* from provisioning.attempts a where a.job_id = p_job_id and a.ended_at is not null and a.over_at is null loop
    select bool_or(o.idempotency_key = 'stop' and d.sent_at is not null) as stopped,
           bool_or(o.idempotency_key = 'dispatch' and (d.sent_at is not null or d.tries > 0)) as tried into v_calls
      from outbox.rows o left join outbox.deliveries d on d.outbox_id = o.outbox_id
     where o.stream_id = outbox.stream_id('provisioning') and o.idempotency_key in ('dispatch', 'stop')
       and o.instruction_id = provisioning.run_mark(v_attempt.job_id, v_attempt.task, v_attempt.number);
    if v_calls.stopped then
      perform provisioning.run_over(v_attempt, 'seen');
    elsif v_calls.tried is false and v_attempt.ended_at < now() - interval '1 minute' and v_attempt.run_id is null
          and not exists (select from provisioning.dispatched_runs r
                           where r.job_id = v_attempt.job_id and r.task = v_attempt.task and r.number = v_attempt.number) then
      perform provisioning.run_over(v_attempt, 'never_ran');
    end if;
  end loop;
end
$$;
comment on function provisioning.note_ended_runs(uuid) is 'Records which runs of ended attempts have ended, by what relays delivered.';
