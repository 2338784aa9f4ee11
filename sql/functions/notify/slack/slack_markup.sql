-- A text with Slack's markup, in which people's text is escaped already (notify.slack_text). Parts are cut to their share where they are
-- combined; if the whole is still too long for a section, it is cut here.
create or replace function notify.slack_markup(p_text text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('type', 'mrkdwn', 'text',
                            case when octet_length(p_text) > 3000 then notify.render_text(p_text, 3000) else p_text end);
end
$$;
comment on function notify.slack_markup(text) is 'A text with markup, of Block Kit.';
