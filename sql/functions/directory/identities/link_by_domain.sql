-- The link that a domain rule makes at an account's first sign-in, or null. The address must be verified by the issuer and belong to
-- exactly one active member; an address without a canonical form belongs to nobody. A member who is linked to another account of the issuer
-- already is left alone: addresses are given to new people when a person leaves, accounts are not. For the same reason an account that was
-- taken from a member stays out, whatever address its issuer still knows it by.
create or replace function directory.link_by_domain(p_issuer text, p_subject text, p_email text) returns directory.identities
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_email text := headroom.canonical_address(p_email);
  v_rule directory.identity_domains;
  v_members text[];
  v_identity directory.identities;
begin
  select d.* into v_rule from directory.identity_domains d
   where d.issuer = p_issuer and d.domain = split_part(v_email, '@', 2) for share;
  if v_rule.domain is null
     or exists (select from directory.ended_accounts e
                 where e.workspace_id = v_rule.workspace_id and e.issuer = p_issuer and e.subject = p_subject) then
    return null;
  end if;
  v_members := array(select m.id from directory.members m where m.workspace_id = v_rule.workspace_id and m.active
                       and headroom.canonical_address(m.email) = v_email for update);
  if cardinality(v_members) <> 1
     or exists (select from directory.identities i
                 where i.workspace_id = v_rule.workspace_id and i.member_id = v_members[1] and i.issuer = p_issuer) then
    return null;
  end if;
  insert into directory.identities as i (issuer, subject, workspace_id, member_id, domain)
  values (p_issuer, p_subject, v_rule.workspace_id, v_members[1], v_rule.domain)
  on conflict (issuer, subject) do nothing;
  select i.* into v_identity from directory.identities i where i.issuer = p_issuer and i.subject = p_subject;
  return v_identity;
end
$$;
comment on function directory.link_by_domain(text, text, text) is 'The identity that a domain rule makes, or null.';
