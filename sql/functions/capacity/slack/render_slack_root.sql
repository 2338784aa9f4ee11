-- The root message of a request's thread, first and after every event: what is requested, the state of each review, and buttons for what
-- is open now, so that used ones are gone. Who may press one is decided when it is pressed. The metadata is that of the first posting.
--
-- Every part is cut to its share of Slack's limits, so that the message fits whatever the story says.
create or replace function capacity.render_slack_root(p_story jsonb, p_method text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_story ->> 'id';
  v_state text := p_story ->> 'state';
  -- Shown in place of the deadline when the customer does not know of it.
  v_unasked text := case v_state when 'CUSTOMER_CONFIRMATION_REQUIRED' then p_story ->> 'unasked' end;
  v_stands text := capacity.story_state(v_state) || case when v_unasked is null then '' else ', who has not been asked' end;
  v_title text := notify.slack_text(concat_ws(': ', v_id, p_story ->> 'what'), 150);
  v_price text := notify.slack_text(capacity.story_price(p_story), 100);
  v_sentence text := notify.slack_text(capacity.story_sentence(p_story), 1000);
  v_commercial text := capacity.slack_step(p_story, 'commercial');
  v_technical text := capacity.slack_step(p_story, 'technical');
begin
  return capacity.slack_message(
    p_story, p_method, v_id || '#1', 'slack:root', v_title || ' (' || v_stands || '). ' || v_sentence, jsonb_build_array(
      jsonb_build_object('type', 'header', 'text', notify.slack_plain(v_title)),
      notify.slack_fields(
        'State', v_stands,
        'Requester', notify.slack_text(capacity.story_name(p_story, p_story ->> 'requester'), 200),
        'Customer', notify.slack_text(p_story ->> 'customer', 200),
        'Needed by', notify.slack_text(p_story ->> 'needed_by', 50),
        'For', notify.slack_text(p_story ->> 'duration_days', 50) || ' days',
        'Price', v_price,
        'Estimated cost', case when v_price is null then capacity.render_money(p_story -> 'monthly_cost') || ' a month' end,
        'Replaces', notify.slack_text(p_story ->> 'replaces', 50)),
      notify.slack_section(E'*Why it is needed*\n' || capacity.slack_quote(nullif(p_story ->> 'justification', ''))),
      notify.slack_section(v_commercial),
      case when v_state = 'UNDER_REVIEW' and starts_with(v_commercial, ':hourglass')
                and p_story #> '{commercial,auto}' is distinct from 'true' then notify.slack_buttons('commercial_buttons', v_id,
        '["commercial_approve", "Approve commercially", ": $id", "primary"]',
        '["commercial_reject", "Reject", " in the commercial review: $id", "danger"]') end,
      notify.slack_section(v_technical),
      case when v_state = 'UNDER_REVIEW' and starts_with(v_technical, ':hourglass')
                and p_story #> '{technical,auto}' is distinct from 'true' then notify.slack_buttons('technical_buttons', v_id,
        '["tech_approve", "Approve technically", ": $id", "primary"]',
        '["tech_reject", "Reject", " in the technical review: $id", "danger"]') end,
      case when v_state = 'CUSTOMER_CONFIRMATION_REQUIRED' then notify.slack_buttons('customer_buttons', v_id,
        -- Where there is a price, only paying confirms.
        case when v_price is null then '["customer_confirm", "Customer confirmed", ": record it for $id", "primary"]'::jsonb end,
        '["customer_decline", "Customer declined", ": record it for $id", "danger"]',
        case when v_unasked in ('no_public_url', 'erased') then null
             else jsonb_build_array('customer_link', case when v_unasked in ('no_address', 'bad_address') then 'Add the customer''s address'
                when v_unasked = 'not_sent' then 'Mail the link' else 'Mail the link again' end, ': $id') end) end,
      notify.slack_section(capacity.slack_payment(p_story)),
      notify.slack_section(capacity.slack_job(p_story)),
      case when v_state = 'PROVISIONING' and p_story #>> '{job,state}' = 'failed' then notify.slack_buttons('job_buttons', v_id,
        '["job_retry", "Try again", " to provision $id", "primary"]',
        '["job_complete", "Record as running", ": the capacity of $id is running"]',
        '["job_fail", "Give up", ": $id fails permanently", "danger"]') end,
      jsonb_build_object('type', 'context', 'elements', jsonb_build_array(
        notify.slack_markup(concat_ws(' ', v_sentence, capacity.slack_time(p_story -> 'at'))))),
      notify.slack_section(capacity.slack_quote(nullif(p_story ->> 'reason', ''))),
      case when v_state in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING') then
        notify.slack_buttons('request_buttons', v_id,
          case when v_state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED')
               then '["nudge", "Nudge", ": remind those whom $id waits on"]'::jsonb end,
          '["note", "Add a note", " to $id"]', '["cancel", "Cancel request", " $id"]') end));
end
$$;
comment on function capacity.render_slack_root(jsonb, text)
  is 'The payload of a request''s root message, to post or to update it. Nullable: result.';
