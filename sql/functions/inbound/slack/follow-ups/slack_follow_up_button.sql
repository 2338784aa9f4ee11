-- A button that decides nothing. A nudge takes effect immediately, and a note that only they see shows the result; the others open a form,
-- for people who may submit it. Only those see the customer's address filled in.
create or replace function inbound.slack_follow_up_button(p_receipt jsonb, p_member directory.members) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_follow_up text := case p_receipt ->> 'what' when 'customer_link' then 'link' else p_receipt ->> 'what' end;
  v_id text := p_receipt ->> 'value';
  v_known record;
begin
  if v_follow_up = 'nudge' then
    perform inbound.slack_note(p_receipt, inbound.slack_follow_up(p_member, v_id, v_follow_up, null, true));
    return jsonb_build_object('outcome', 'done', 'request', v_id, 'answer', '{}'::jsonb);
  end if;
  v_known := inbound.readable(p_member, v_id, true);
  if v_follow_up = 'link' then
    perform headroom.refuse(capacity.fixer_refusal(v_known.request, v_known.standing));
  elsif not v_known.reads then
    perform headroom.fail('not_allowed', 'Only people who may read a request can add notes to it.', v_id, 'Nothing was changed.');
  end if;
  perform inbound.slack_open(p_receipt, inbound.render_follow_up(
    v_id, v_follow_up, p_receipt ->> 'channel', case v_follow_up when 'link' then capacity.email_of_customer(v_id) end));
  return jsonb_build_object('outcome', 'opened', 'request', v_id, 'answer', '{}'::jsonb);
end
$$;
comment on function inbound.slack_follow_up_button(jsonb, directory.members)
  is 'Carries out a click on a button that decides nothing, and replies.';
