-- One step of the story in the thread: what happened, other people's words quoted, and a mention of those whose turn it is now.
-- As in the root message, what has to be cut or escaped is asked once, and seldom anything has.
create or replace function capacity.render_slack_reply(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_story ->> 'id';
  v_sentence text := capacity.story_sentence(p_story);
  v_words text := p_story ->> 'reason';
  v_mentions text := capacity.slack_mentions(p_story, p_story -> 'next');
begin
  if length(v_id) > 100 or length(v_sentence) > 1000 or v_mentions ~ '["\\\u0001-\u001f]'
     or concat(v_id, v_sentence, p_story ->> 'channel',
               p_story ->> 'instruction') ~ '[^\u0020\u0021\u0023-\u0025\u0027-\u003b\u003d\u003f-\u005b\u005d-\u007e]' then
    v_sentence := headroom.json_text(notify.slack_text(v_sentence, 1000));
    v_mentions := headroom.json_text(v_mentions);
    v_id := headroom.json_text(notify.slack_text(v_id, 100));
    p_story := p_story || jsonb_build_object(
      'id', headroom.json_text(p_story ->> 'id'), 'channel', headroom.json_text(p_story ->> 'channel'),
      'instruction', headroom.json_text(p_story ->> 'instruction'));
  end if;
  -- Without a channel, an id or a sentence there is no message.
  return ('{"method": "chat.postMessage", "channel": "' || (p_story ->> 'channel') || '", "text": "' || v_id || ': ' || v_sentence
    || '", "metadata": {"event_type": "capacity_request", "event_payload": {"cr_id": "' || (p_story ->> 'id')
    || '", "instruction_id": "' || (p_story ->> 'instruction') || '", "effect": "slack:reply"}}, "blocks": ['
    || concat('{"type": "section", "text": {"type": "mrkdwn", "text": "', v_sentence, ' ' || v_mentions, '"}}',
      case when v_words <> '' then
        concat(', {"type": "section", "text": {"type": "mrkdwn", "text": ', to_json(capacity.slack_quote(v_words)), '}}') end,
        ']}'))::jsonb;
end
$$;
comment on function capacity.render_slack_reply(jsonb) is 'The payload of a reply in a request''s thread.';
