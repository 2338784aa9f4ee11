-- The accounts with which members of a workspace sign in.
create or replace function directory.list_identities(p_workspace_id text, p_member_id text default null)
returns table (member_id text, issuer text, subject text, made_by_domain text, created_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select i.member_id, i.issuer, i.subject, i.domain, i.created_at from directory.identities i
   where i.workspace_id = p_workspace_id and (p_member_id is null or i.member_id = p_member_id)
   order by i.member_id, i.issuer, i.subject;
end
$$;
comment on function directory.list_identities(text, text)
  is 'Accounts at identity providers and the members they are. Nullable: made_by_domain.';
