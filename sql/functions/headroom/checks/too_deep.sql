-- Whether JSON is nested deeper than 64 levels: the one bound on depth, for whatever comes in. Postgres stores deeper values, and they
-- break those who take them apart by recursion, relays and receivers among them.
--
-- No JSON is nested deeper than its text has opening brackets, and nearly none has that many; only the others are looked into. What no
-- stream would take for its size is not looked into, since it is refused for that. Brackets are counted by replacing bytes, which takes a
-- tenth of the time that going through the characters of a mail does.
create or replace function headroom.too_deep(p_value jsonb, p_text text) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(p_text) <= 16777216
     and 2 * octet_length(p_text) - octet_length(replace(p_text, '[', '')) - octet_length(replace(p_text, '{', '')) > 64
     and jsonb_path_exists(p_value, 'strict $.**{65}');
end
$$;
comment on function headroom.too_deep(jsonb, text) is 'Whether JSON, given with its text, is nested deeper than 64 levels.';
