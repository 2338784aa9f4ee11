-- The length of a text as surfaces count it: in UTF-16 units, of which a character beyond U+FFFF has two.
create or replace function notify.units(p_text text) returns integer
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case when octet_length(p_text) = length(p_text) then length(p_text)
              else length(p_text) + length(regexp_replace(p_text, '[^\U00010000-\U0010ffff]', '', 'g')) end;
$$;
comment on function notify.units(text) is 'The length of a text in UTF-16 units. Nullable: result.';
