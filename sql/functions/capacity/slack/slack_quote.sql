-- Other people's words as a quotation, within what a section holds with a heading above it. Each line break costs a character more: a text
-- with so many of them that it does not fit is cut to half.
create or replace function capacity.slack_quote(p_text text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_quoted text := '>' || replace(notify.slack_text(p_text, 2900), E'\n', E'\n>');
begin
  return case when notify.units(v_quoted) <= 2950 then v_quoted
              else '>' || replace(notify.slack_text(p_text, 1470), E'\n', E'\n>') end;
end
$$;
comment on function capacity.slack_quote(text) is 'A text quoted in Slack markup.';
