-- The HMAC in the wizard's tokens, by purpose: `draft` for the visitor who fills in the draft, `proof` for the recipient of the mail. It is
-- made with the secret of customers' links. Those links sign the sixteen bytes of an id and nothing else, so neither can be taken for the
-- other. Signatures of the first generation are the same as before there were generations. Null if p_secret_name is the previous secret and
-- there is none.
create or replace function billing.draft_signature(
  p_secret_name text, p_purpose text, p_workspace_id text, p_id uuid, p_generation integer, p_mark bytea
) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.hmac_sha256(
    headroom.link_key(p_secret_name, 'Orders cannot be taken here at the moment.', 'Try again later.'),
    convert_to(p_purpose || coalesce(nullif(p_generation, 0)::text, '') || ':' || p_workspace_id || ':', 'UTF8')
      || uuid_send(p_id) || coalesce(p_mark, ''));
end
$$;
comment on function billing.draft_signature(text, text, text, uuid, integer, bytea)
  is 'The signature of a draft''s token or of the link in its mail. Nullable: p_generation, p_mark, result.';
