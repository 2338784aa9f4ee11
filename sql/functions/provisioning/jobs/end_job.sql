-- Ends the job of a request that a person ended: cancelled it, or recorded its outcome by hand. A run that is under way is stopped and
-- cleaned up after, even if the outcome was recorded as running: that capacity was bought elsewhere. A job that ended first has already
-- moved, and is left alone.
create or replace function provisioning.end_job(p_change jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := provisioning.lock_job(p_change ->> 'request_id');
  v_actor capacity.actor := jsonb_populate_record(null::capacity.actor, p_change -> 'actor');
  v_event text := case p_change ->> 'event' when 'PROVISIONING_COMPLETE' then 'RECORDED_RUNNING'
                    when 'PROVISIONING_FAILED' then 'RECORDED_FAILED' else 'CANCELLED' end;
  v_attempt provisioning.attempts;
begin
  if v_job.id is null or v_job.state in ('running', 'given_up', 'cancelled') then
    return;
  elsif p_change ->> 'job_id' <> v_job.id::text then
    perform headroom.fail('invalid_payload', 'This job belongs to another request.', left(p_change ->> 'job_id', 80),
                          'Leave job_id out. Nothing was changed.');
  end if;
  v_job := provisioning.record(v_job, v_event, v_actor);
  v_attempt := provisioning.open_attempt(v_job.id, 'provision');
  if v_attempt.job_id is not null then
    v_attempt := provisioning.end_attempt(v_attempt, 'stopped', case v_event when 'CANCELLED' then 'cancelled' else 'by_hand' end);
    perform provisioning.stop_run(v_attempt);
    perform provisioning.clean_up(v_job, v_attempt.number);
    perform provisioning.tell(v_job, 'The run is being stopped, and what it has made so far is cleaned up.');
  end if;
  perform provisioning.pass_turn(v_job);
end
$$;
comment on function provisioning.end_job(jsonb) is 'Ends the job of a request that a person ended.';
