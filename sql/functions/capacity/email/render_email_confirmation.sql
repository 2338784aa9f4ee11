-- Asks the customer for an answer: at first, when somebody has the link sent again, when a payment that took days has failed, and once more
-- before time is up. The link is not in here: the sender makes it from confirmation_token_id at the moment of sending, below
-- confirmation_base_url, and puts it where {{confirmation_link}} stands.
create or replace function capacity.render_email_confirmation(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_deadline text := coalesce(capacity.render_time(p_story -> 'deadline'), 'the deadline');
  v_price text := capacity.email_text(capacity.story_price(p_story), 100);
  v_notice text := coalesce(p_story ->> 'notice', '');
begin
  return capacity.email_letter(
    p_story ->> 'email',
    case when v_notice = 'warning' then 'Reminder: please answer' when v_notice = 'payment_failed' then 'Your payment failed'
         when v_price is not null then 'Please review and pay'
         else 'Please confirm' end || ': ' || (p_story ->> 'what') || ' ('
      || (p_story ->> 'id') || ')',
    array[
      coalesce('Hello ' || capacity.email_text(nullif(p_story ->> 'customer', ''), 200) || ',', 'Hello,'),
      case when v_notice = 'warning' then 'we are still waiting for your answer to this offer:'
           when v_notice = 'payment_failed'
           then 'your payment did not go through, and nothing was charged. The offer still stands, and you can pay again:'
           else 'the capacity that was asked for on your behalf is approved:' end,
      capacity.email_facts(p_story),
      coalesce('You pay ' || v_price || '. ' || format('Please pay or decline by %s. Without an answer the offer ends then.', v_deadline),
               format('Please confirm or decline by %s. Without an answer the offer ends then.', v_deadline)),
      '{{confirmation_link}}',
      case when v_price is null then 'The link is for you alone and works once. Opening it decides nothing.'
           else 'The link is for you alone. Opening it decides nothing and charges nothing.' end,
      capacity.email_text(p_story ->> 'workspace_name', 200)],
    case when v_price is null then 'Confirm or decline' else 'Review and pay' end)
    || jsonb_build_object('confirmation_token_id', p_story -> 'token_id', 'confirmation_base_url', p_story -> 'public_url');
end
$$;
comment on function capacity.render_email_confirmation(jsonb) is 'The payload of the mail that asks the customer to confirm.';
