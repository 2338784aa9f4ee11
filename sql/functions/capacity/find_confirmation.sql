-- The confirmation that a token stands for. Its HMAC is checked before anything is looked up, in constant time; a garbled,
-- a forged, a replaced and an unknown token get the same answer. Whoever holds a link is anybody: what is not set up here is not told to them.
create or replace function capacity.find_confirmation(p_token text) returns capacity.confirmation_tokens
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea;
  v_bytes bytea;
  v_token capacity.confirmation_tokens;
begin
  -- All 64 characters carry six bits each, so no two spellings mean the same token.
  if length(p_token) = 64 and p_token ~ '^[A-Za-z0-9_-]{64}$' then
    begin
      v_key := capacity.signing_key('CONFIRMATION_TOKEN_SECRET');
    exception when sqlstate 'PT503' then
      perform capacity.fail('not_configured', 'Links cannot be answered here at the moment.', null, 'Try again later, or ask whoever sent you the link.');
    end;
    v_bytes := decode(translate(p_token, '-_', '+/'), 'base64');
    if capacity.equal_constant_time(substr(v_bytes, 17), capacity.hmac_sha256(v_key, substr(v_bytes, 1, 16))) then
      select t.* into v_token from capacity.confirmation_tokens t where t.id = encode(substr(v_bytes, 1, 16), 'hex')::uuid and t.revoked_at is null;
    end if;
  end if;
  if v_token.id is null then
    perform capacity.fail('not_found', 'This link is not valid.', null, 'Use the link of the last mail exactly as it was sent, or ask whoever sent it for a new one.');
  end if;
  return v_token;
end
$$;
comment on function capacity.find_confirmation(text) is 'The confirmation behind a token, or a refusal.';
