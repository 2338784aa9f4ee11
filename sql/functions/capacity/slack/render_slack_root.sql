-- The root message of a request's thread, at first and after every event: what is asked for, how each review stands, and buttons for what
-- is open now, so that used ones are gone. Who may press one is decided when it is pressed. The metadata is how a send whose outcome is
-- unknown is looked up; it stays that of the first posting. A button's label for screen readers begins with the words on it, so that
-- voice control finds it.
--
-- Slack's limits hold whatever the story says: every part is cut to a share of them. Few stories say anything that has to be cut
-- or escaped, so that is asked once for all parts together. The message is put together as text in one expression and parsed
-- once: setting up an expression, or calling a function for each part, takes longer than the work in it.
create or replace function capacity.render_slack_root(p_story jsonb, p_method text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_story jsonb := p_story;
  v_state text := p_story ->> 'state';
  -- Said in place of the deadline where the customer does not know of it.
  v_unasked text := case p_story ->> 'state' when 'CUSTOMER_CONFIRMATION_REQUIRED' then p_story ->> 'unasked' end;
  v_stands text := capacity.story_state(p_story ->> 'state') || case when v_unasked is null then '' else ', who has not been asked' end;
  v_value text := p_story ->> 'id';
  v_title text := concat_ws(': ', p_story ->> 'id', p_story ->> 'what');
  v_requester text := coalesce(p_story #>> array['people', p_story ->> 'requester', 'name'], p_story ->> 'requester', 'somebody');
  v_price text := capacity.story_price(p_story);
  v_cost text := case when v_price is null then capacity.render_money(p_story -> 'monthly_cost') end;
  v_sentence text := capacity.story_sentence(p_story);
  v_commercial text := capacity.slack_step(p_story, 'commercial');
  v_technical text := capacity.slack_step(p_story, 'technical');
  v_job text := capacity.slack_job(p_story);
  v_payment text := capacity.slack_payment(p_story);
begin
  if length(v_value) > 30 or length(v_title) > 150 or length(v_requester) > 200 or length(v_sentence) > 1000
     or length(v_price) > 100
     or length(concat(p_story ->> 'customer', p_story ->> 'needed_by', p_story ->> 'duration_days', p_story ->> 'replaces')) > 50
     or concat(v_title, v_requester, v_sentence, v_price, p_story ->> 'channel', p_story ->> 'customer', p_story ->> 'needed_by',
               p_story ->> 'duration_days',
               p_story ->> 'replaces') ~ '[^\u0020\u0021\u0023-\u0025\u0027-\u003b\u003d\u003f-\u005b\u005d-\u007e\u00d7]'
     or concat(v_cost, v_commercial, v_technical) ~ '["\\\u0001-\u001f]' then
    v_story := capacity.slack_safe(p_story);
    v_value := headroom.json_text(left(v_value, 30));
    v_title := headroom.json_text(notify.slack_text(v_title, 150));
    v_requester := headroom.json_text(notify.slack_text(v_requester, 200));
    v_cost := headroom.json_text(v_cost);
    v_price := headroom.json_text(notify.slack_text(v_price, 100));
    v_sentence := headroom.json_text(notify.slack_text(v_sentence, 1000));
    v_commercial := headroom.json_text(v_commercial);
    v_technical := headroom.json_text(v_technical);
  end if;
  -- Without a channel, an id or a sentence there is no message.
  return ('{"method": "' || p_method || '", "channel": "' || (v_story ->> 'channel') || '", "text": "' || v_title || ' ('
    || v_stands || '). ' || v_sentence
    || '", "metadata": {"event_type": "capacity_request", "event_payload": {"cr_id": "' || (v_story ->> 'id')
    || concat('", "instruction_id": "', v_story ->> 'id', '#1", "effect": "slack:root"}}, "blocks": [
      {"type": "header", "text": {"type": "plain_text", "text": "', v_title, '"}},
      {"type": "section", "fields": [
        {"type": "mrkdwn", "text": "*State*\n', v_stands, '"},
        {"type": "mrkdwn", "text": "*Requester*\n', v_requester, '"}',
        ', {"type": "mrkdwn", "text": "*Customer*\n' || nullif(v_story ->> 'customer', '') || '"}',
        ', {"type": "mrkdwn", "text": "*Needed by*\n' || (v_story ->> 'needed_by') || '"}',
        ', {"type": "mrkdwn", "text": "*For*\n' || (v_story ->> 'duration_days') || ' days"}',
        ', {"type": "mrkdwn", "text": "*Price*\n' || v_price || '"}',
        ', {"type": "mrkdwn", "text": "*Estimated cost*\n' || v_cost || ' a month"}',
        ', {"type": "mrkdwn", "text": "*Replaces*\n' || (v_story ->> 'replaces') || '"}', ']}',
      ', {"type": "section", "text": {"type": "mrkdwn", "text": '
        || to_json(E'*Why it is needed*\n' || capacity.slack_quote(v_story ->> 'justification')) || '}}', ',
      {"type": "section", "text": {"type": "mrkdwn", "text": "', v_commercial, '"}}, ',
      case when v_state = 'UNDER_REVIEW' and starts_with(v_commercial, ':hourglass')
                and p_story #> '{commercial,auto}' is distinct from 'true' then replace(
        '{"type": "actions", "block_id": "commercial_buttons", "elements": [
           {"type": "button", "action_id": "commercial_approve", "value": "$id", "style": "primary",
            "text": {"type": "plain_text", "text": "Approve commercially"}, "accessibility_label": "Approve commercially: $id"},
           {"type": "button", "action_id": "commercial_reject", "value": "$id", "style": "danger",
            "text": {"type": "plain_text", "text": "Reject"},
            "accessibility_label": "Reject in the commercial review: $id"}]}, ', '$id', v_value) end,
      '{"type": "section", "text": {"type": "mrkdwn", "text": "', v_technical, '"}}, ',
      case when v_state = 'UNDER_REVIEW' and starts_with(v_technical, ':hourglass')
                and p_story #> '{technical,auto}' is distinct from 'true' then replace(
        '{"type": "actions", "block_id": "technical_buttons", "elements": [
           {"type": "button", "action_id": "tech_approve", "value": "$id", "style": "primary",
            "text": {"type": "plain_text", "text": "Approve technically"}, "accessibility_label": "Approve technically: $id"},
           {"type": "button", "action_id": "tech_reject", "value": "$id", "style": "danger",
            "text": {"type": "plain_text", "text": "Reject"},
            "accessibility_label": "Reject in the technical review: $id"}]}, ', '$id', v_value)
           when v_state = 'CUSTOMER_CONFIRMATION_REQUIRED' then replace(replace(replace(
        '{"type": "actions", "block_id": "customer_buttons", "elements": [$confirm
           {"type": "button", "action_id": "customer_decline", "value": "$id", "style": "danger",
            "text": {"type": "plain_text", "text": "Customer declined"},
            "accessibility_label": "Customer declined: record it for $id"}$link]}, ', '$confirm', case
           -- Where there is a price, nobody confirms but by paying.
           when v_price is not null then '' else '
           {"type": "button", "action_id": "customer_confirm", "value": "$id", "style": "primary",
            "text": {"type": "plain_text", "text": "Customer confirmed"},
            "accessibility_label": "Customer confirmed: record it for $id"},' end), '$link', case
           when v_unasked in ('no_public_url', 'erased') then '' else replace(',
           {"type": "button", "action_id": "customer_link", "value": "$id", "text": {"type": "plain_text", "text": "$word"},
            "accessibility_label": "$word: $id"}', '$word', case
              when v_unasked in ('no_address', 'bad_address') then 'Add the customer''s address'
              when v_unasked = 'not_sent' then 'Mail the link' else 'Mail the link again' end) end), '$id', v_value) end,
      '{"type": "section", "text": {"type": "mrkdwn", "text": ' || to_json(v_payment) || '}}, ',
      '{"type": "section", "text": {"type": "mrkdwn", "text": ' || to_json(v_job) || '}}, ',
      case when v_state = 'PROVISIONING' and p_story #>> '{job,state}' = 'failed' then replace(
        '{"type": "actions", "block_id": "job_buttons", "elements": [
           {"type": "button", "action_id": "job_retry", "value": "$id", "style": "primary",
            "text": {"type": "plain_text", "text": "Try again"}, "accessibility_label": "Try again to provision $id"},
           {"type": "button", "action_id": "job_complete", "value": "$id", "text": {"type": "plain_text", "text": "Record as running"},
            "accessibility_label": "Record as running: the capacity of $id is there"},
           {"type": "button", "action_id": "job_fail", "value": "$id", "style": "danger",
            "text": {"type": "plain_text", "text": "Give up"},
            "accessibility_label": "Give up: $id fails for good"}]}, ', '$id', v_value) end,
      '{"type": "context", "elements": [{"type": "mrkdwn", "text": "', v_sentence, ' ' || capacity.slack_time(p_story -> 'at'), '"}]}',
      case when p_story ->> 'reason' <> '' then
        concat(', {"type": "section", "text": {"type": "mrkdwn", "text": ', to_json(capacity.slack_quote(p_story ->> 'reason')), '}}') end,
      case when v_state in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING') then replace(replace(
        ', {"type": "actions", "block_id": "request_buttons", "elements": [$nudge
           {"type": "button", "action_id": "note", "value": "$id", "text": {"type": "plain_text", "text": "Add a note"},
            "accessibility_label": "Add a note to $id"},
           {"type": "button", "action_id": "cancel", "value": "$id", "text": {"type": "plain_text", "text": "Cancel request"},
            "accessibility_label": "Cancel request $id"}]}', '$nudge', case
           when v_state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then '
           {"type": "button", "action_id": "nudge", "value": "$id", "text": {"type": "plain_text", "text": "Nudge"},
            "accessibility_label": "Nudge: remind those whom $id waits on"},' else '' end), '$id', v_value) end,
    ']}'))::jsonb;
end
$$;
comment on function capacity.render_slack_root(jsonb, text) is 'The payload of a request''s root message, to post or to update it.';
