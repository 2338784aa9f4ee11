-- Whether a signature was made with a secret of this name, or with its predecessor: while a secret is being rotated,
-- the provider signs with the old one for some time, and `<name>_PREVIOUS` holds that.
create or replace function inbound.signed_by(p_secret_name text, p_data bytea, p_signature bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_previous text;
begin
  if headroom.equal_constant_time(headroom.hmac_sha256(convert_to(headroom.get_secret(p_secret_name), 'UTF8'), p_data), p_signature) then
    return true;
  end if;
  v_previous := headroom.optional_secret(p_secret_name || '_PREVIOUS');
  return v_previous is not null
    and headroom.equal_constant_time(headroom.hmac_sha256(convert_to(v_previous, 'UTF8'), p_data), p_signature);
end
$$;
comment on function inbound.signed_by(text, bytea, bytea)
  is 'Whether HMAC-SHA-256 of the data under the named secret, or its predecessor, is this signature.';
