-- The customer's token: the id and its HMAC, 48 bytes, written in 64 characters that need no escaping in a link. It is computed
-- from the id each time a mail is sent, and is in no table, payload, log or archive. The token of a link that was replaced is
-- not computed again.
create or replace function capacity.confirmation_token(p_token_id uuid) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from capacity.confirmation_tokens t where t.id = p_token_id and t.revoked_at is null) then
    perform headroom.fail('not_found', 'There is no such confirmation link.');
  end if;
  return translate(encode(uuid_send(p_token_id) || headroom.hmac_sha256(
    headroom.signing_key('CONFIRMATION_TOKEN_SECRET'), uuid_send(p_token_id)), 'base64'), '+/', '-_');
end
$$;
comment on function capacity.confirmation_token(uuid) is 'The token of a confirmation link, computed at the moment of sending.';
