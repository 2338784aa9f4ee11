-- A form with a note or with the customer's address was sent. The address that is known already means: send the link again.
create or replace function inbound.slack_errand_form(p_receipt jsonb, p_member directory.members, p_metadata jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  -- Of another workspace's request no more is looked at than of one that does not exist.
  v_id text := (select r.id from capacity.requests r where r.id = p_metadata ->> 'request' and r.workspace_id = p_member.workspace_id);
  v_email text := btrim(inbound.form_value(p_receipt -> 'values', 'email'));
  v_said text;
begin
  if v_id is null then
    perform capacity.no_such_request(p_metadata ->> 'request');
  end if;
  v_said := case
    when p_receipt ->> 'what' = 'capacity_note' then inbound.slack_errand(p_member, v_id, 'note', inbound.form_value(p_receipt -> 'values', 'note'), true)
    when v_email = capacity.email_of_customer(v_id) then inbound.slack_errand(p_member, v_id, 'link', null, true)
    else inbound.slack_errand(p_member, v_id, 'address', v_email, true) end;
  perform inbound.slack_note(p_receipt || case when p_metadata ->> 'channel' ~ '^[A-Z0-9]{2,32}$'
                                                then jsonb_build_object('channel', p_metadata ->> 'channel') else '{}' end, v_said);
  return jsonb_build_object('outcome', 'done', 'request', v_id, 'answer', '{"response_action": "clear"}'::jsonb);
end
$$;
comment on function inbound.slack_errand_form(jsonb, directory.members, jsonb) is 'Carries out what a form asks for that decides nothing, and replies.';
