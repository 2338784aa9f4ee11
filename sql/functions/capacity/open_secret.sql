-- Decrypts what capacity.seal_secret() made, or returns null: under another key, for another name, after a change, or without
-- pgcrypto. Which of these it was is not told, and no error of the cipher gets out.
create or replace function capacity.open_secret(p_name text, p_box bytea) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := convert_to(nullif(current_setting('headroom.secret_key', true), ''), 'UTF8');
  v_crypto text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pgcrypto');
  v_body bytea;
  v_value bytea;
begin
  if v_key is null or v_crypto is null or octet_length(p_box) < 65 or get_byte(p_box, 0) <> 1 then
    return null;
  end if;
  v_body := substr(p_box, 1, octet_length(p_box) - 32);
  if not capacity.equal_constant_time(
           substr(p_box, octet_length(p_box) - 31),
           capacity.hmac_sha256(capacity.hmac_sha256(v_key, 'headroom: authenticate secrets'), convert_to(p_name, 'UTF8') || '\x00'::bytea || v_body)) then
    return null;
  end if;
  execute format('select %I.decrypt_iv($1, $2, $3, $4)', v_crypto)
     into v_value
    using substr(v_body, 18), capacity.hmac_sha256(v_key, 'headroom: encrypt secrets'), substr(v_body, 2, 16), 'aes-cbc/pad:pkcs'::text;
  return convert_from(v_value, 'UTF8');
end
$$;
comment on function capacity.open_secret(text, bytea) is 'The secret in a sealed box, or null when the box does not open. Nullable: result.';
