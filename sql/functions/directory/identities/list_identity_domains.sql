-- The identity providers that a workspace trusts, each for the addresses of a domain.
create or replace function directory.list_identity_domains(p_workspace_id text)
returns table (issuer text, domain text, linked bigint, created_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select d.issuer, d.domain, (select count(*) from directory.identities i where i.issuer = d.issuer and i.domain = d.domain), d.created_at
    from directory.identity_domains d where d.workspace_id = p_workspace_id order by d.issuer, d.domain;
end
$$;
comment on function directory.list_identity_domains(text) is 'The domain rules of a workspace, and how many members each one linked.';
