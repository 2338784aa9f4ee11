-- Trusts an issuer for the addresses of a domain. A domain belongs to one workspace: with two, an address alone would not show which one
-- is meant.
create or replace function directory.put_identity_domain(
  p_workspace_id text, p_issuer text, p_domain text
) returns directory.identity_domains
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_domain text := headroom.canonical_domain(p_domain);
  v_rule directory.identity_domains;
begin
  perform directory.check_issuer(p_issuer);
  if v_domain is null then
    perform headroom.fail('invalid_input', 'The domain is the part of an address after the @, such as example.org.', left(p_domain, 80),
                          'Write a domain with other letters than ASCII in its xn-- form. Nothing was changed.');
  elsif not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  end if;
  insert into directory.identity_domains as d (issuer, domain, workspace_id) values (p_issuer, v_domain, p_workspace_id)
  on conflict (issuer, domain) do nothing;
  select d.* into v_rule from directory.identity_domains d where d.issuer = p_issuer and d.domain = v_domain;
  if v_rule.workspace_id <> p_workspace_id then
    perform headroom.fail('conflict', 'This domain belongs to another workspace already.', null,
                          'Remove that rule first. Nothing was changed.');
  end if;
  return v_rule;
end
$$;
comment on function directory.put_identity_domain(text, text, text)
  is 'Lets verified addresses of a domain sign in as the members who have them.';
