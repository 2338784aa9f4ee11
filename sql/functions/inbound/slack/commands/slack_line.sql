-- One request in a list. Its parts are checked when a request is made, so they need no escaping. Pure.
create or replace function inbound.slack_line(
  p_id text, p_quantity integer, p_size text, p_region text, p_state public.capacity_request_state, p_since timestamptz
) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return format('• *%s* %s × %s in %s: %s since %s', p_id, p_quantity, notify.slack_text(p_size, 40), notify.slack_text(p_region, 40),
                capacity.story_state(p_state::text), capacity.slack_time(to_jsonb(extract(epoch from p_since))));
end
$$;
comment on function inbound.slack_line(text, integer, text, text, public.capacity_request_state, timestamptz)
  is 'A request as a line of a list in Slack.';
