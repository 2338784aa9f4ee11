-- A message in Slack that tells a person or a group one or several things, each with a button if it has a link; a person also gets a link
-- to their preferences. It comes from the bot, or by the person's own webhook, which determines where it goes. The bot's message can be
-- found later by the row's id, which the rail adds as its metadata.
--
-- It shows everything that it is given (notify.how_many_fit). Of a text that is too long for any message it shows the beginning and says
-- so; a member then has the full text in the inbox (notify.send).
create or replace function notify.message_in_slack(p_told notify.notifications[], p_address text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_first notify.notifications := p_told[1];
  v_count integer := cardinality(p_told);
  v_blocks jsonb := '[]';
  v_preferences text := (select rtrim(w.public_url, '/') || '/preferences' from directory.workspaces w
                          where w.id = v_first.workspace_id and v_first.recipient_kind = 'member');
  v_each notify.notifications;
  v_shown record;
  v_section text;
begin
  foreach v_each in array p_told loop
    v_shown := notify.slack_sections(v_each.title, v_each.body);
    foreach v_section in array v_shown.sections loop
      v_blocks := v_blocks || jsonb_build_array(jsonb_build_object('type', 'section', 'text', jsonb_build_object(
        'type', 'mrkdwn', 'text', v_section)));
    end loop;
    if v_shown.cut then
      v_blocks := v_blocks || jsonb_build_object('type', 'context', 'elements', jsonb_build_array(jsonb_build_object(
        'type', 'plain_text', 'text', case v_first.recipient_kind
          when 'member' then 'This is the beginning. All of it is in your inbox.'
          else 'This is the beginning. The rest is too long for Slack.' end)));
    end if;
    if v_each.action_url is not null then
      v_blocks := v_blocks || jsonb_build_array(jsonb_build_object('type', 'actions', 'elements', jsonb_build_array(jsonb_build_object(
        'type', 'button', 'text', '{"type": "plain_text", "text": "View"}'::jsonb, 'url', v_each.action_url,
        'accessibility_label', notify.render_text('View: ' || v_each.title, 75)))));
    end if;
  end loop;
  if v_preferences is not null then
    v_blocks := v_blocks || jsonb_build_object('type', 'context', 'elements', jsonb_build_array(jsonb_build_object(
      'type', 'mrkdwn', 'text', format('<%s|Preferences>', notify.slack_text(v_preferences, 2500)))));
  end if;
  return case when p_address like 'webhook:%' then '{}'
              else jsonb_build_object('method', 'chat.postMessage', 'channel', p_address) end || jsonb_build_object(
    'text', notify.slack_text(v_first.title, 250) || case when v_count > 1 then format(' (and %s more)', v_count - 1) else '' end,
    'blocks', v_blocks);
end
$$;
comment on function notify.message_in_slack(notify.notifications[], text) is 'The payload of a message in Slack.';
