-- A paragraph, or null without a text, so that a renderer can pass what may be missing.
create or replace function notify.slack_section(p_text text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_text <> '' then jsonb_build_object('type', 'section', 'text', notify.slack_markup(p_text)) end;
end
$$;
comment on function notify.slack_section(text) is 'A section of Block Kit. Nullable: p_text, result.';
