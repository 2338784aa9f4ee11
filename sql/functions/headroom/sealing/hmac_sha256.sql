-- HMAC-SHA-256 (RFC 2104) from the built-in sha256, so that signatures need no extension. The key's block is padded and
-- combined with the two constants eight bytes at a time.
create or replace function headroom.hmac_sha256(p_key bytea, p_data bytea) returns bytea
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_block text := rpad(encode(case when octet_length(p_key) > 64 then sha256(p_key) else p_key end, 'hex'), 128, '0');
  v_inner bytea := '';
  v_outer bytea := '';
  v_word bigint;
begin
  for i in 0..7 loop
    v_word := ('x' || substr(v_block, 1 + 16 * i, 16))::bit(64)::bigint;
    v_inner := v_inner || int8send(v_word # x'3636363636363636'::bigint);
    v_outer := v_outer || int8send(v_word # x'5c5c5c5c5c5c5c5c'::bigint);
  end loop;
  return sha256(v_outer || sha256(v_inner || p_data));
end
$$;
comment on function headroom.hmac_sha256(bytea, bytea) is 'HMAC-SHA-256 of the data under the key.';
