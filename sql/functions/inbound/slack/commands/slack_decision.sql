-- Decisions by text: `approve CR-2026-000042`, `reject CR-2026-000042 technical because …`, `cancel CR-2026-000042 because …`. Which of
-- the two reviews is meant can be left out by somebody who may give only one of them. If the reason is missing, the button's form
-- asks for it.
create or replace function inbound.slack_decision(p_receipt jsonb, p_member directory.members, p_verb text, p_rest text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := upper(substring(p_rest from '^\S+') collate "C");
  v_words text := btrim(regexp_replace(p_rest, '^\S+', ''), E' \t\r\n');
  v_step text;
  v_decided record;
  v_action text;
  v_event public.capacity_request_event_type;
begin
  if v_id is null or v_id !~ '^CR-\d{4}-\d{6,}$' then
    return inbound.slack_reply(inbound.slack_help(format('Name the request, such as `/capacity %s CR-2026-000042`.', p_verb)), 'answered');
  end if;
  if p_verb in ('approve', 'reject') then
    v_step := case lower(substring(v_words from '^\S+') collate "C")
                   when 'commercial' then 'commercial' when 'commercially' then 'commercial'
                   when 'technical' then 'tech' when 'technically' then 'tech' when 'tech' then 'tech' end;
    if v_step is not null then
      v_words := btrim(regexp_replace(v_words, '^\S+', ''), E' \t\r\n');
    else
      v_step := inbound.review_step(p_member, v_id);
      if v_step is null then
        return inbound.slack_reply(format('You may give both reviews of %s. '
                                          'Name one: `/capacity %s %s commercial` or `/capacity %s %s technical`.',
                                        v_id, p_verb, v_id, p_verb, v_id), 'answered');
      end if;
    end if;
  end if;
  v_action := case p_verb when 'confirm' then 'customer_confirm' when 'decline' then 'customer_decline' when 'cancel' then 'cancel'
                else v_step || '_' || p_verb end;
  v_event := (inbound.action_event(v_action)).event_type;
  if v_words = '' and p_verb in ('reject', 'cancel') then
    v_decided := inbound.could_decide(p_member, v_id, v_event, false);
    if not v_decided.repeated then
      perform inbound.slack_open(p_receipt, inbound.render_reason(v_id, v_action, p_receipt ->> 'channel'));
      return inbound.slack_reply(format('Opening a form that asks why. If it does not appear, write the reason after the id: '
                                        '`/capacity %s %s%s because …`.',
                                        p_verb, v_id,
                                        case v_step when 'tech' then ' technical' when 'commercial'
                                               then ' commercial' end), 'opened', v_id);
    end if;
  end if;
  v_decided := inbound.decide(p_member, v_id, v_event, nullif(v_words, ''), false);
  return inbound.slack_reply(
    notify.slack_text(v_decided.said, 3000), case when v_decided.repeated then 'answered' else 'done' end, v_id);
end
$$;
comment on function inbound.slack_decision(jsonb, directory.members, text, text) is 'Carries out a decision that was typed, and replies.';
