-- The text of a template as it is stored: with our line ends, and without spaces at the end of lines, which are invisible and would keep
-- a tag from being alone on its line.
create or replace function notify.tidy_template(p_text text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return btrim(regexp_replace(replace(p_text, E'\r\n', E'\n'), '[ \t]+$', '', 'gn'), E'\n');
end
$$;
comment on function notify.tidy_template(text) is 'The text of a template as it is stored. Nullable: p_text, result.';
