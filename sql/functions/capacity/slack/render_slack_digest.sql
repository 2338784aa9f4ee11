-- A reminder to one person, as a direct message.
create or replace function capacity.render_slack_digest(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_lines text[] := capacity.story_digest(p_story);
  v_title text := case when cardinality(v_lines) = 1 then 'A review is waiting for you.' else 'Reviews are waiting for you.' end;
  v_section constant text := '{"type": "section", "text": {"type": "mrkdwn", "text": ';
begin
  return (
    '{"method": "chat.postMessage", "channel": ' || to_json(p_story ->> 'slack') || ', "text": ' || to_json(v_title)
    || ', "metadata": {"event_type": "capacity_request", "event_payload": {"cr_id": ' || to_json(p_story ->> 'id')
    || ', "instruction_id": ' || to_json(p_story ->> 'instruction') || ', "effect": "slack:dm"}}, "blocks": ['
    || v_section || to_json(v_title) || '}}, '
    || v_section || to_json(capacity.slack_text('• ' || array_to_string(v_lines, E'\n• '), 3000)) || '}}]}')::jsonb;
end
$$;
comment on function capacity.render_slack_digest(jsonb) is 'The payload of a reminder in Slack.';
