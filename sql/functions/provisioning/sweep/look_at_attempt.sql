-- Checks an attempt that is under way. If its run could not be started, it has failed. If it gave no sign of life for too long, or takes
-- too long overall, it is given up. If it has been quiet for a while, or its time is nearly up, GitHub is asked: it may have succeeded
-- without its report arriving. Silence counts from the delivery of the dispatch: until then the attempt waits for a relay or GitHub, not
-- for the run. remind() tells people about that wait, and the attempt is given up after the longest time that a job waits for anything.
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
  -- A report that the run has ended is better than silence, and is read in a moment. No other report of GitHub's stops the clock: a run
  -- that reports before GitHub lists it makes us ask again all the time.
  if exists (select from provisioning.sightings g
              where g.job_id = p_job_id and g.task = p_attempt.task and g.number = p_attempt.number
                and jsonb_path_exists(g.runs, '$[*] ? (@.status == "completed")')) then
    return;
  end if;
  select d.failed, d.sent_at, d.in_doubt, coalesce(d.tries, 0) = 0 as untried, o.outbox_id into v_row
    from outbox.rows o left join outbox.deliveries d on d.outbox_id = o.outbox_id
   where o.stream_id = outbox.stream_id('provisioning') and o.idempotency_key = 'dispatch'
     and o.instruction_id = provisioning.run_mark(p_job_id, p_attempt.task, p_attempt.number);
  -- Stored here, because only the sweep queries the archive.
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
