-- Does what is due for one job, and sets the time of the next check: soon for a job that may run, seldom for one that waits for people. The
-- caller has locked its request and its customer's turn.
create or replace function provisioning.look_after(p_job_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
  v_attempt provisioning.attempts;
  v_task text;
begin
  perform provisioning.read_sightings(p_job_id);
  foreach v_task in array array['provision', 'cleanup'] loop
    v_attempt := provisioning.open_attempt(p_job_id, v_task);
    if v_attempt.job_id is not null then
      perform provisioning.look_at_attempt(p_job_id, v_attempt);
    end if;
  end loop;
  select j.* into v_job from provisioning.jobs j where j.id = p_job_id;
  perform provisioning.look_at_stop(v_job);
  perform provisioning.note_ended_runs(p_job_id);
  perform provisioning.look_at_ended_runs(v_job);
  if v_job.state = 'waiting' or v_job.has_turn then
    perform provisioning.pass_turn(v_job);
  end if;
  select j.* into v_job from provisioning.jobs j where j.id = p_job_id;
  perform provisioning.remind(v_job);
  select j.* into v_job from provisioning.jobs j where j.id = p_job_id;
  update provisioning.jobs j
     set next_look_at = now() + case when v_job.state in ('queued', 'provisioning') or v_job.cleanup = 'under_way' then interval '1 minute'
                                     when v_job.has_turn then interval '15 seconds' else interval '10 minutes' end
   where j.id = p_job_id;
end
$$;
comment on function provisioning.look_after(uuid) is 'Does what is due for a job because time has passed.';
