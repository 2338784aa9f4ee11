-- A button about a provisioning job: asks for the reason, if the person may do it at all.
create or replace function inbound.slack_job_button(p_receipt jsonb, p_member directory.members) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := inbound.slack_job(p_member, p_receipt ->> 'value');
begin
  perform headroom.refuse(provisioning.action_refusal(v_job, p_member.id, substr(p_receipt ->> 'what', 5)));
  perform inbound.slack_open(p_receipt, inbound.render_reason(v_job.request_id, p_receipt ->> 'what', p_receipt ->> 'channel'));
  return jsonb_build_object('outcome', 'opened', 'request', v_job.request_id, 'answer', '{}'::jsonb);
end
$$;
comment on function inbound.slack_job_button(jsonb, directory.members) is 'Opens the form that asks for the reason of an action on a job.';
