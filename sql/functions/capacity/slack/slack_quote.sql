-- Other people's words as a quotation that fits in a section together with a heading. Each line break costs one more character: a text
-- that does not fit because of its line breaks is cut to half.
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
