-- An attempt that is under way: one whose run could not be started has failed; one that gave no sign for too long, or takes too long as a
-- whole, is given up; one that has been quiet for a while, or whose time is nearly up, is asked about at GitHub: its success may have ended
-- unheard. Time without a sign counts from when the dispatch was delivered: one that waits in the outbox waits for a relay or GitHub, and
-- not for the run. Of that people are told (remind), and it is given up when nothing came of it for as long as anything is waited for.
create or replace function provisioning.look_at_attempt(p_job_id uuid, p_attempt provisioning.attempts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
  v_settings provisioning.settings;
  v_row record;
  v_sign timestamptz;
  v_limit interval;
  v_because text;
  v_error text;
  v_never_ran boolean;
begin
  select j.* into v_job from provisioning.jobs j where j.id = p_job_id;
  select s.* into strict v_settings from provisioning.settings s where s.workspace_id = v_job.workspace_id;
  v_limit := v_settings.limit_minutes * interval '1 minute';
  -- What GitHub has said says more than silence, and is read in a moment.
  if exists (select from provisioning.sightings g
              where g.job_id = p_job_id and g.task = p_attempt.task and g.number = p_attempt.number) then
    return;
  end if;
  select d.failed, d.sent_at, d.in_doubt, coalesce(d.tries, 0) = 0 as untried, o.outbox_id into v_row
    from outbox.rows o left join outbox.deliveries d on d.outbox_id = o.outbox_id
   where o.stream_id = outbox.stream_id('provisioning') and o.idempotency_key = 'dispatch'
     and o.instruction_id = provisioning.run_mark(p_job_id, p_attempt.task, p_attempt.number);
  -- Noted here, since what is asked of the archive is asked by the sweep alone.
  update provisioning.attempts a set sent_at = v_row.sent_at
   where a.job_id = p_job_id and a.task = p_attempt.task and a.number = p_attempt.number and a.sent_at is distinct from v_row.sent_at
     and v_row.sent_at is not null;
  v_sign := case when p_attempt.claimed_at is not null then greatest(p_attempt.claimed_at, p_attempt.heartbeat_at) else v_row.sent_at end;
  if p_attempt.status = 'dispatched' and v_row.failed and v_row.sent_at is null then
    v_because := 'not_dispatched';
    v_error := provisioning.dispatch_error(v_row.outbox_id);
  elsif p_attempt.status = 'dispatched' and v_row.sent_at is null
        and p_attempt.due_at <= now() - v_settings.give_up_hours * interval '1 hour' then
    v_because := 'not_served';
    v_error := provisioning.unsent_words(p_attempt);
  elsif v_sign < now() - v_settings.stale_minutes * interval '1 minute' then
    v_because := 'stale';
    v_error := format('No sign of life for %s minutes.', v_settings.stale_minutes);
  elsif p_attempt.claimed_at < now() - v_limit then
    v_because := 'time_limit';
    v_error := format('Not finished after %s minutes.', v_settings.limit_minutes);
  elsif v_sign < now() - interval '2 minutes' and coalesce(p_attempt.watched_at, '-infinity') < now() - interval '2 minutes'
     or p_attempt.claimed_at < now() - v_limit + interval '2 minutes'
        and coalesce(p_attempt.watched_at, '-infinity') < now() - interval '1 minute' then
    perform provisioning.watch_run(p_attempt);
  end if;
  if v_because is null then
    return;
  end if;
  v_never_ran := v_because = 'not_dispatched' and v_row.in_doubt is false;
  if p_attempt.task = 'cleanup' then
    perform provisioning.cleanup_ended(v_job, p_attempt, false, v_because, v_error, p_never_ran => v_never_ran);
  else
    perform provisioning.attempt_failed(v_job, p_attempt, v_because, v_error, null, 'cron',
      p_never_ran => v_never_ran or v_because = 'not_served' and v_row.untried);
  end if;
end
$$;
comment on function provisioning.look_at_attempt(uuid, provisioning.attempts) is 'Does what is due for an attempt that is under way.';
