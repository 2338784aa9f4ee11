-- The form that asks for the reason of an action on a job was submitted.
create or replace function inbound.slack_job_form(p_receipt jsonb, p_member directory.members, p_metadata jsonb, p_reason text)
returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_said text := inbound.slack_job_step(p_member, p_metadata ->> 'request', p_metadata ->> 'action', p_reason);
begin
  perform inbound.slack_note(inbound.form_channel(p_receipt), v_said);
  return jsonb_build_object('outcome', 'done', 'request', p_metadata ->> 'request', 'answer', '{"response_action": "clear"}'::jsonb);
end
$$;
comment on function inbound.slack_job_form(jsonb, directory.members, jsonb, text)
  is 'Carries out what a form about a job asks for. Nullable: p_reason.';
