-- Decrypts what headroom.seal_secret() made, or returns null: another key, another name, a changed box, or no pgcrypto. It does not report
-- which, and hides errors of the cipher.
create or replace function headroom.open_secret(p_name text, p_box bytea) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := convert_to(headroom.key_of_box(p_name, p_box), 'UTF8');
  v_crypto text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pgcrypto');
  v_at integer;
  v_value bytea;
begin
  if v_key is null or v_crypto is null then
    return null;
  end if;
  -- The content begins after the version and, since version 2, the key's id.
  v_at := case get_byte(p_box, 0) when 1 then 2 else 10 end;
  execute format('select %I.decrypt_iv($1, $2, $3, $4)', v_crypto)
     into v_value
    using substr(p_box, v_at + 16, octet_length(p_box) - 47 - v_at), headroom.hmac_sha256(v_key, 'headroom: encrypt secrets'),
          substr(p_box, v_at, 16), 'aes-cbc/pad:pkcs'::text;
  return convert_from(v_value, 'UTF8');
end
$$;
comment on function headroom.open_secret(text, bytea)
  is 'The secret in a sealed box, or null when the box does not open. Nullable: result.';
