-- A story whose facts can stand in a Slack message as they are: escaped for Slack, cut to their share of its limits, and
-- escaped for JSON.
create or replace function capacity.slack_safe(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_story || jsonb_build_object(
    'id', headroom.json_text(p_story ->> 'id'), 'channel', headroom.json_text(p_story ->> 'channel'),
    'customer', headroom.json_text(notify.slack_text(p_story ->> 'customer', 200)),
    'needed_by', headroom.json_text(notify.slack_text(p_story ->> 'needed_by', 50)),
    'duration_days', headroom.json_text(notify.slack_text(p_story ->> 'duration_days', 50)),
    'replaces', headroom.json_text(notify.slack_text(p_story ->> 'replaces', 50)));
end
$$;
comment on function capacity.slack_safe(jsonb) is 'A story with its facts fit for a Slack message that is written as JSON text.';
