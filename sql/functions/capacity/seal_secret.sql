-- Encrypts a secret of a database without Vault: AES-256 in CBC mode by pgcrypto, then an HMAC over name and ciphertext, so
-- that neither a changed box nor another secret's box opens. The key is the process's (HEADROOM_SECRET_KEY) and is never
-- stored; two keys are derived from it, one for each purpose. A box is: version, initial vector, ciphertext, HMAC.
create or replace function capacity.seal_secret(p_name text, p_value text) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := nullif(current_setting('headroom.secret_key', true), '');
  v_crypto text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pgcrypto');
  v_box bytea;
begin
  if v_crypto is null then
    perform capacity.fail('not_configured', 'This database can keep no secrets yet.', 'neither Vault nor pgcrypto is installed',
      'As a superuser run: create extension pgcrypto');
  elsif v_key is null or octet_length(v_key) < 32 then
    perform capacity.fail('not_configured', 'There is no key to encrypt secrets with.', 'headroom.secret_key is missing or shorter than 32 bytes',
      'Set HEADROOM_SECRET_KEY for this process, for example to the output of: openssl rand -hex 32');
  end if;
  execute format('select $1 || iv || %1$I.encrypt_iv($2, $3, iv, $4) from (select %1$I.gen_random_bytes(16) as iv) g', v_crypto)
     into v_box
    using '\x01'::bytea, convert_to(p_value, 'UTF8'), capacity.hmac_sha256(convert_to(v_key, 'UTF8'), 'headroom: encrypt secrets'), 'aes-cbc/pad:pkcs'::text;
  return v_box || capacity.hmac_sha256(capacity.hmac_sha256(convert_to(v_key, 'UTF8'), 'headroom: authenticate secrets'),
                                       convert_to(p_name, 'UTF8') || '\x00'::bytea || v_box);
end
$$;
comment on function capacity.seal_secret(text, text) is 'A secret as it is stored: encrypted and authenticated under the key of the process.';
