-- Encrypts a secret of a database without Vault: AES-256 in CBC mode by pgcrypto, then an HMAC over name and ciphertext, so that neither a
-- changed box nor another secret's box opens. The key is the process's (HEADROOM_SECRET_KEY) and is never stored; two keys are derived from
-- it, one for each purpose. A box is: version, id of the key, initial vector, ciphertext, HMAC.
create or replace function headroom.seal_secret(p_name text, p_value text) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_crypto text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pgcrypto');
  v_key text;
  v_box bytea;
begin
  if v_crypto is null then
    perform headroom.fail('not_configured', 'This database cannot store secrets yet.', 'neither Vault nor pgcrypto is installed',
      'As a superuser run: create extension pgcrypto');
  end if;
  v_key := headroom.key_to_seal_with();
  execute format('select $1 || iv || %1$I.encrypt_iv($2, $3, iv, $4) from (select %1$I.gen_random_bytes(16) as iv) g', v_crypto)
     into v_box
    using '\x02'::bytea || headroom.key_id(v_key), convert_to(p_value, 'UTF8'),
          headroom.hmac_sha256(convert_to(v_key, 'UTF8'), 'headroom: encrypt secrets'), 'aes-cbc/pad:pkcs'::text;
  return v_box || headroom.hmac_sha256(headroom.hmac_sha256(convert_to(v_key, 'UTF8'), 'headroom: authenticate secrets'),
                                       convert_to(p_name, 'UTF8') || '\x00'::bytea || v_box);
end
$$;
comment on function headroom.seal_secret(text, text) is 'A secret as it is stored: encrypted and authenticated under the key in use.';
