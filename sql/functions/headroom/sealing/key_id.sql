-- An id for a key, to use where the key itself must not appear: eight bytes of an HMAC that is used for nothing else.
create or replace function headroom.key_id(p_key text) returns bytea
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select substr(headroom.hmac_sha256(convert_to(p_key, 'UTF8'), 'headroom: name the key'), 1, 8)
$$;
comment on function headroom.key_id(text) is 'The id of a key, which does not reveal it.';
