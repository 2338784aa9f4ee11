-- A message in Slack that tells a person or a group one or several things, each with a button where there is somewhere to look, and leads
-- a person to their preferences: from the bot, or by their own webhook, which says itself where it goes. The bot's is found again by the
-- row's id, which the rail adds as its metadata.
create or replace function notify.message_in_slack(p_told notify.notifications[], p_address text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_first notify.notifications := p_told[1];
  v_count integer := cardinality(p_told);
  -- Slack takes fifty blocks, and some 13,000 characters in all of them.
  v_most constant integer := 20;
  v_chars constant integer := least(2700, 11000 / least(v_count, v_most) - 200);
  v_blocks jsonb := '[]';
  v_preferences text := (select rtrim(w.public_url, '/') || '/preferences' from directory.workspaces w
                          where w.id = v_first.workspace_id and v_first.recipient_kind = 'member');
  v_foot jsonb := '[]';
  v_each notify.notifications;
begin
  foreach v_each in array p_told[1:v_most] loop
    v_blocks := v_blocks || jsonb_build_array(jsonb_build_object('type', 'section', 'text', jsonb_build_object(
      'type', 'mrkdwn', 'text', format(E'*%s*\n%s', notify.slack_text(v_each.title, 150), notify.slack_text(v_each.body, v_chars)))));
    if v_each.action_url is not null then
      v_blocks := v_blocks || jsonb_build_array(jsonb_build_object('type', 'actions', 'elements', jsonb_build_array(jsonb_build_object(
        'type', 'button', 'text', '{"type": "plain_text", "text": "View"}'::jsonb, 'url', v_each.action_url,
        'accessibility_label', notify.render_text('View: ' || v_each.title, 75)))));
    end if;
  end loop;
  if v_count > v_most then
    v_foot := v_foot || jsonb_build_object('type', 'plain_text', 'text', format('And %s more%s.', v_count - v_most,
      case v_first.recipient_kind when 'member' then ', which you find in your inbox' else '' end));
  end if;
  if v_preferences is not null then
    v_foot := v_foot || jsonb_build_object('type', 'mrkdwn', 'text', format('<%s|Preferences>', notify.slack_text(v_preferences, 2500)));
  end if;
  if v_foot <> '[]' then
    v_blocks := v_blocks || jsonb_build_object('type', 'context', 'elements', v_foot);
  end if;
  return case when p_address like 'webhook:%' then '{}'
              else jsonb_build_object('method', 'chat.postMessage', 'channel', p_address) end || jsonb_build_object(
    'text', notify.slack_text(v_first.title, 250) || case when v_count > 1 then format(' (and %s more)', v_count - 1) else '' end,
    'blocks', v_blocks);
end
$$;
comment on function notify.message_in_slack(notify.notifications[], text) is 'The payload of a message in Slack.';
