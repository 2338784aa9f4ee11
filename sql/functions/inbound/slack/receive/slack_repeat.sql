-- The answer to a receipt that was handled before. Nothing is done again: the answer says that
-- it was done, or why it was refused.
create or replace function inbound.slack_repeat(p_receipt jsonb, p_earlier inbound.receipts) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_receipt ->> 'kind' = 'submission' then
    return case when p_earlier.outcome = 'refused' then jsonb_build_object('response_action', 'errors', 'errors', jsonb_build_object(
                  coalesce(p_earlier.payload ->> 'field', inbound.refused_field(p_receipt ->> 'what', null)),
                  coalesce(substring(p_earlier.refusal from '^[a-z_]+: (.*)$'), 'This was refused.')))
                else '{"response_action": "clear"}' end;
  elsif p_receipt ->> 'kind' <> 'command' then
    return '{}';
  end if;
  return inbound.slack_reply(case
    when p_earlier.outcome = 'done' then format('This was already done%s.', ': ' || p_earlier.request_id)
    when p_earlier.outcome = 'opened' then 'The form was already opened. Type the command again for another one.'
    else 'This command was already answered. Type it again to see the answer.' end, 'answered') -> 'answer';
end
$$;
comment on function inbound.slack_repeat(jsonb, inbound.receipts) is 'The answer to a repeated receipt of Slack.';
