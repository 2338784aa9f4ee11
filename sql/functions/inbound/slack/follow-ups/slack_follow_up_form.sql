-- A form with a note or with the customer's address was submitted. An unchanged address means: send the link again.
create or replace function inbound.slack_follow_up_form(p_receipt jsonb, p_member directory.members, p_request_id text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  -- A request of another workspace gets no more checks than one that does not exist.
  v_id text := (select r.id from capacity.requests r where r.id = p_request_id and r.workspace_id = p_member.workspace_id);
  v_email text := btrim(inbound.form_value(p_receipt -> 'values', 'email'));
  v_said text;
begin
  if v_id is null then
    perform capacity.no_such_request(p_request_id);
  end if;
  v_said := case
    when p_receipt ->> 'what' = 'capacity_note'
      then inbound.slack_follow_up(p_member, v_id, 'note', inbound.form_value(p_receipt -> 'values', 'note'), true)
    when v_email = capacity.email_of_customer(v_id) then inbound.slack_follow_up(p_member, v_id, 'link', null, true)
    else inbound.slack_follow_up(p_member, v_id, 'address', v_email, true) end;
  perform inbound.slack_note(inbound.form_channel(p_receipt), v_said);
  return jsonb_build_object('outcome', 'done', 'request', v_id, 'answer', '{"response_action": "clear"}'::jsonb);
end
$$;
comment on function inbound.slack_follow_up_form(jsonb, directory.members, text)
  is 'Carries out the follow-up that a form asks for, and replies. Nullable: p_request_id.';
