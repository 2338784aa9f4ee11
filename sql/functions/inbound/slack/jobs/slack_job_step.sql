-- Does something to a job for a member in Slack, by the same functions as every other entrance, and says in words what was done.
create or replace function inbound.slack_job_step(p_member directory.members, p_request_id text, p_action text, p_reason text) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := inbound.slack_job(p_member, p_request_id);
  v_actor capacity.actor := row('user', p_member.id, 'slack');
begin
  if p_action = 'job_retry' then
    v_job := provisioning.retry(v_job.request_id, v_actor, p_reason);
    return format('%s: %s', v_job.request_id, coalesce(provisioning.held_words(v_job.id), 'the next attempt has begun.'));
  end if;
  v_job := provisioning.record_outcome(v_job.request_id, v_actor, p_action = 'job_complete', p_reason);
  return format('%s is %s.', v_job.request_id, case v_job.state when 'running' then 'completed' else 'failed' end);
end
$$;
comment on function inbound.slack_job_step(directory.members, text, text, text)
  is 'Retries a job or records its outcome, for a member in Slack.';
