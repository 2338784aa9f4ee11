-- One step of the story in the thread: what happened, other people's words quoted, and mentions of those whose turn it is now.
create or replace function capacity.render_slack_reply(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_sentence text := notify.slack_text(capacity.story_sentence(p_story), 1000);
begin
  return capacity.slack_message(
    p_story, 'chat.postMessage', p_story ->> 'instruction', 'slack:reply',
    notify.slack_text(p_story ->> 'id', 100) || ': ' || v_sentence, jsonb_build_array(
      notify.slack_section(concat_ws(' ', v_sentence, capacity.slack_mentions(p_story, p_story -> 'next'))),
      notify.slack_section(capacity.slack_quote(nullif(p_story ->> 'reason', '')))));
end
$$;
comment on function capacity.render_slack_reply(jsonb) is 'The payload of a reply in a request''s thread. Nullable: result.';
