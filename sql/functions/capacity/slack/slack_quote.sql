-- Other people's words as a quotation. Each line break costs a character more, so the text is cut to half of what a section holds.
create or replace function capacity.slack_quote(p_text text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return '>' || replace(notify.slack_text(p_text, 1499), E'\n', E'\n>');
end
$$;
comment on function capacity.slack_quote(text) is 'A text quoted in Slack markup.';
