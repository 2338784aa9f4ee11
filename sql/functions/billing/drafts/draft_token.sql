-- The token by which whoever fills in a draft comes back to it: the id and its HMAC, as in a customer's link. It does not prove the
-- address: for that there is the link in the mail.
create or replace function billing.draft_token(p_workspace_id text, p_id uuid, p_generation integer) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return translate(encode(uuid_send(p_id)
    || billing.draft_signature('CONFIRMATION_TOKEN_SECRET', 'draft', p_workspace_id, p_id, p_generation, null), 'base64'), '+/', '-_');
end
$$;
comment on function billing.draft_token(text, uuid, integer) is 'The token of a draft. Nullable: p_generation.';
