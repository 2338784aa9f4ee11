-- Whether a link consists of an id and its HMAC under this secret. Without the current secret this cannot be known, so the call is refused;
-- a previous secret may be missing.
create or replace function capacity.signed_link(p_secret_name text, p_bytes bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := headroom.link_key(p_secret_name, 'Links cannot be answered here at the moment.',
                                   'Try again later, or ask whoever sent you the link.');
begin
  return v_key is not null and headroom.equal_constant_time(substr(p_bytes, 17), headroom.hmac_sha256(v_key, substr(p_bytes, 1, 16)));
end
$$;
comment on function capacity.signed_link(text, bytea) is 'Whether a secret signed a link.';
