-- An answer to a command, which only the person who typed it sees.
create or replace function inbound.slack_reply(
  p_text text, p_outcome text, p_request_id text default null, p_blocks jsonb default null
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object('outcome', p_outcome, 'request', p_request_id))
    || jsonb_build_object('answer', jsonb_build_object('response_type', 'ephemeral', 'text', p_text)
                                    || case when p_blocks is null then '{}' else jsonb_build_object('blocks', p_blocks) end);
end
$$;
comment on function inbound.slack_reply(text, text, text, jsonb) is 'The reply to a slash command.';
