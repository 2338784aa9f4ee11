-- The confirmation that a token belongs to. The token's HMAC is checked in constant time before any lookup; malformed, forged,
-- replaced and unknown tokens get the same answer. Anybody may hold a link, so missing settings are not revealed.
--
-- While the secret is being replaced, links that the previous one signed are valid too: they are in mailboxes already.
create or replace function capacity.find_confirmation(p_token text) returns capacity.confirmation_tokens
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes bytea;
  v_token capacity.confirmation_tokens;
begin
  -- All 64 characters carry six bits each, so no two spellings mean the same token.
  if length(p_token) = 64 and p_token ~ '^[A-Za-z0-9_-]{64}$' then
    v_bytes := decode(translate(p_token, '-_', '+/'), 'base64');
    if capacity.signed_link('CONFIRMATION_TOKEN_SECRET', v_bytes)
       or capacity.signed_link('CONFIRMATION_TOKEN_SECRET_PREVIOUS', v_bytes) then
      select t.* into v_token from capacity.confirmation_tokens t
       where t.id = encode(substr(v_bytes, 1, 16), 'hex')::uuid and t.revoked_at is null;
    end if;
  end if;
  if v_token.id is null then
    perform headroom.fail('not_found', 'This link is not valid.', null,
                          'Use the link in the latest mail exactly as it was sent, or ask whoever sent it for a new one.');
  end if;
  return v_token;
end
$$;
comment on function capacity.find_confirmation(text) is 'The confirmation behind a token, or a refusal.';
