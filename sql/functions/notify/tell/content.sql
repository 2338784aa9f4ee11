-- What a recipient is told, by named parameters. Rare fields are set in the row: whether it is critical, a link, and when it expires.
create or replace function notify.content(
  p_category text, p_title text, p_body text, p_channels text[] default null, p_priority integer default 5, p_about text default null,
  p_cause text default null, p_action_url text default null
) returns notify.content
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return row(p_category, p_title, p_body, p_channels, p_priority, p_about, p_cause, p_action_url, null, null, null)::notify.content;
end
$$;
comment on function notify.content(text, text, text, text[], integer, text, text, text)
  is 'What a recipient is told. Nullable: p_channels, p_priority, p_about, p_cause, p_action_url.';
