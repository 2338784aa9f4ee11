-- A run that could not be stopped may continue next to the cleanup after it: people are told once, since nobody else will handle it.
create or replace function provisioning.look_at_stop(p_job provisioning.jobs) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt provisioning.attempts;
  v_row record;
begin
  for v_attempt in
    select a.* from provisioning.attempts a where a.job_id = p_job.id and a.status = 'stopped' and a.stop_failed_at is null
  loop
    select d.failed and d.sent_at is null as failed, o.outbox_id into v_row
      from outbox.rows o join outbox.deliveries d on d.outbox_id = o.outbox_id
     where o.stream_id = outbox.stream_id('provisioning') and o.idempotency_key = 'stop'
       and o.instruction_id = provisioning.run_mark(v_attempt.job_id, v_attempt.task, v_attempt.number);
    continue when v_row.failed is not true;
    update provisioning.attempts a set stop_failed_at = clock_timestamp()
     where a.job_id = v_attempt.job_id and a.task = v_attempt.task and a.number = v_attempt.number;
    perform provisioning.tell(p_job, format(
      'The run of attempt %s could not be stopped, and may still go on: an operator has to check it at GitHub.', v_attempt.number),
      provisioning.dispatch_error(v_row.outbox_id), true);
  end loop;
end
$$;
comment on function provisioning.look_at_stop(provisioning.jobs) is 'Reports runs that could not be stopped.';
