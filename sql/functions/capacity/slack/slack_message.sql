-- A message about a request, and the metadata for looking up a send whose outcome is unknown. Null without a channel, an id or a
-- text: then there is nothing to send.
create or replace function capacity.slack_message(
  p_story jsonb, p_method text, p_instruction text, p_effect text, p_text text, p_blocks jsonb
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_story ->> 'channel' <> '' and p_instruction <> '' and p_text <> '' then jsonb_build_object(
    'method', p_method, 'channel', p_story ->> 'channel', 'text', p_text, 'blocks', notify.slack_blocks(p_blocks, 50),
    'metadata', jsonb_build_object('event_type', 'capacity_request', 'event_payload', jsonb_build_object(
      'cr_id', p_story ->> 'id', 'instruction_id', p_instruction, 'effect', p_effect))) end;
end
$$;
comment on function capacity.slack_message(jsonb, text, text, text, text, jsonb)
  is 'A message about a request, as Slack takes it. Nullable: p_instruction, p_text, result.';
