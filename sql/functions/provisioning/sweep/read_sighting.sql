-- Applies one report of GitHub's. If the attempt was claimed, only the run that claimed it matters. Otherwise every run with its mark does,
-- and the attempt has failed when all of them have ended: a run that never claimed the job has done nothing for it.
--
-- The question may have been asked before something else was reported, so the report is fenced: by the attempt, by the run that claimed it,
-- and by the try of that run. A report of an earlier try says nothing about a later one, whichever came first.
create or replace function provisioning.read_sighting(p_sighting provisioning.sightings) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
  v_attempt provisioning.attempts;
  v_run jsonb;
  v_same boolean;
  v_over boolean;
  v_because text;
begin
  select j.* into v_job from provisioning.jobs j where j.id = p_sighting.job_id;
  select a.* into v_attempt from provisioning.attempts a
   where a.job_id = p_sighting.job_id and a.task = p_sighting.task and a.number = p_sighting.number;
  if v_attempt.job_id is null then
    return;
  end if;
  select x into v_run from jsonb_array_elements(p_sighting.runs) x
   where v_attempt.run_id is null or x ->> 'id' = v_attempt.run_id::text limit 1;
  if v_attempt.run_url is null and v_run ->> 'url' ~ '^https?://[^\s]+$' and length(v_run ->> 'url') <= 500 then
    update provisioning.attempts a set run_url = v_run ->> 'url'
     where a.job_id = v_attempt.job_id and a.task = v_attempt.task and a.number = v_attempt.number;
  end if;
  -- The answer to a dispatch only says which run it is.
  if v_run ->> 'status' is null then
    return;
  end if;
  -- The report is of an earlier try than the one that claimed the attempt or, before that, than any that was seen.
  if provisioning.try_of(v_run) < v_attempt.run_attempt or v_attempt.run_id is null and exists (
       select from jsonb_array_elements(p_sighting.runs) x
         join provisioning.dispatched_runs d on d.job_id = v_attempt.job_id and d.task = v_attempt.task and d.number = v_attempt.number
          and d.run_id::text = x ->> 'id'
        where provisioning.try_of(x) < d.run_attempt) then
    return;
  end if;
  v_same := coalesce(provisioning.try_of(v_run) = v_attempt.run_attempt, true);
  v_over := case when v_attempt.run_id is not null then v_run ->> 'status' = 'completed'
                 else not jsonb_path_exists(p_sighting.runs, '$[*] ? (!(@.status == "completed"))') end;
  if v_attempt.ended_at is not null then
    if v_over and not exists (select from provisioning.dispatched_runs d
                               where d.job_id = v_attempt.job_id and d.task = v_attempt.task and d.number = v_attempt.number
                                 and d.run_id::text = v_run ->> 'id' and d.run_attempt > provisioning.try_of(v_run)) then
      perform provisioning.run_over(v_attempt, 'seen');
    end if;
    return;
  elsif v_same and not v_over then
    return;
  end if;

  if v_attempt.run_id is not null and v_same and v_run ->> 'conclusion' = 'success' then
    if v_attempt.task = 'cleanup' then
      perform provisioning.cleanup_ended(v_job, v_attempt, true, 'run_ended');
    else
      perform provisioning.complete(v_job, v_attempt, 'run_ended', 'poll');
    end if;
    return;
  end if;
  v_because := case when v_over then 'run_ended' else 'rerun' end;
  if v_attempt.task = 'cleanup' then
    perform provisioning.cleanup_ended(v_job, v_attempt, false, v_because, provisioning.run_words(v_attempt, v_run));
  else
    perform provisioning.attempt_failed(v_job, v_attempt, v_because, provisioning.run_words(v_attempt, v_run), null, 'poll');
  end if;
end
$$;
comment on function provisioning.read_sighting(provisioning.sightings) is 'Applies one report of GitHub''s about a run.';
