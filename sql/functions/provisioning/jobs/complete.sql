-- The run of a job succeeded: the capacity runs, and the request is complete. If GitHub showed this and the run did not report it, people
-- are told: something keeps callbacks from arriving.
create or replace function provisioning.complete(p_job provisioning.jobs, p_attempt provisioning.attempts, p_because text, p_via text)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt provisioning.attempts := provisioning.end_attempt(p_attempt, 'succeeded', p_because);
  v_job provisioning.jobs := provisioning.record(p_job, 'SUCCEEDED', provisioning.system_actor(p_job.id, p_via));
begin
  if p_because = 'run_ended' then
    perform provisioning.tell(v_job, format(
      'The run of attempt %s succeeded, as GitHub says. Its own report did not arrive.', v_attempt.number));
  end if;
  perform capacity.decide(v_job.request_id, 'PROVISIONING_COMPLETE', provisioning.system_actor(v_job.id, p_via),
                         jsonb_build_object('job_id', v_job.id, 'run_id', v_attempt.run_id));
  perform provisioning.pass_turn(v_job);
end
$$;
comment on function provisioning.complete(provisioning.jobs, provisioning.attempts, text, text)
  is 'Ends a job whose run succeeded, and its request.';
