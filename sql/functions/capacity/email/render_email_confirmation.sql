-- Asks the customer for an answer: at first, when somebody has the link sent again, and once more before time is up. The link is not in
-- here: the sender makes it from confirmation_token_id at the moment of sending, below confirmation_base_url, and puts it where
-- {{confirmation_link}} stands.
create or replace function capacity.render_email_confirmation(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_deadline text := coalesce(capacity.render_time(p_story -> 'deadline'), 'the deadline');
  v_warning boolean := coalesce(p_story ->> 'notice' = 'warning', false);
begin
  return capacity.email_letter(
    p_story ->> 'email',
    case when v_warning then 'Reminder: please answer' else 'Please confirm' end || ': ' || (p_story ->> 'what') || ' ('
      || (p_story ->> 'id') || ')',
    array[
      coalesce('Hello ' || capacity.email_text(nullif(p_story ->> 'customer', ''), 200) || ',', 'Hello,'),
      case when v_warning then 'we are still waiting for your answer to this offer:'
           else 'the capacity that was asked for on your behalf is approved:' end,
      capacity.email_facts(p_story),
      format('Please confirm or decline by %s. Without an answer the offer ends then.', v_deadline),
      '{{confirmation_link}}',
      'The link is for you alone and works once. Opening it decides nothing.',
      capacity.email_text(p_story ->> 'workspace_name', 200)])
    || jsonb_build_object('confirmation_token_id', p_story -> 'token_id', 'confirmation_base_url', p_story -> 'public_url');
end
$$;
comment on function capacity.render_email_confirmation(jsonb) is 'The payload of the mail that asks the customer to confirm.';
