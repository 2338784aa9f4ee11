-- Whether JSON is nested deeper than 64 levels: the only bound on depth, for everything that comes in. Postgres stores deeper values, and
-- they break programs that read them by recursion, relays and receivers among them.
--
-- JSON cannot be nested deeper than the number of opening brackets in its text, and nearly none has that many; only the others are parsed.
-- JSON that is too large for any stream is not parsed, because it is refused for its size. Brackets are counted by replacing bytes, which
-- takes a tenth of the time that going through the characters of a mail does.
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
