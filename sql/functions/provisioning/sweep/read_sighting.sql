-- One sighting. Of an attempt that was claimed only the run that has it counts; of one that was not, every run that shows its mark, and it
-- has failed when all of them have ended: a run that never claimed the job has done nothing for it.
create or replace function provisioning.read_sighting(p_sighting provisioning.sightings) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
  v_attempt provisioning.attempts;
  v_run jsonb;
  v_same boolean;
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
  v_same := coalesce(v_run ->> 'attempt' = v_attempt.run_attempt::text, true);
  -- What a dispatch answers says only which run it is.
  if v_attempt.ended_at is not null or v_run ->> 'status' is null then
    return;
  elsif v_attempt.run_id is null then
    if jsonb_path_exists(p_sighting.runs, '$[*] ? (!(@.status == "completed"))') then
      return;
    end if;
  elsif v_same and v_run ->> 'status' <> 'completed' then
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
  v_because := case when v_run ->> 'status' = 'completed' then 'run_ended' else 'rerun' end;
  if v_attempt.task = 'cleanup' then
    perform provisioning.cleanup_ended(v_job, v_attempt, false, v_because, provisioning.run_words(v_attempt, v_run));
  else
    perform provisioning.attempt_failed(v_job, v_attempt, v_because, provisioning.run_words(v_attempt, v_run), null, 'poll');
  end if;
end
$$;
comment on function provisioning.read_sighting(provisioning.sightings) is 'Draws the conclusion from one sighting.';
