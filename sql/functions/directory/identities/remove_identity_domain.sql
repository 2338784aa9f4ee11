-- Ends the trust in a domain, the links that it made, and the sessions of the members who were linked by it.
create or replace function directory.remove_identity_domain(p_issuer text, p_domain text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- A rule from before there was a canonical form is found by its own name.
  v_domain text := coalesce(headroom.canonical_domain(p_domain), p_domain);
  v_ended bigint;
begin
  perform from directory.identity_domains d where d.issuer = p_issuer and d.domain = v_domain for update;
  if not found then
    perform headroom.fail('not_found', 'There is no such rule.', null, 'List the rules: headroom members domain list');
  end if;
  update directory.members m set signed_out_at = clock_timestamp()
   where exists (select from directory.identities i
                  where i.issuer = p_issuer and i.domain = v_domain and i.workspace_id = m.workspace_id and i.member_id = m.id);
  delete from directory.identities i where i.issuer = p_issuer and i.domain = v_domain;
  get diagnostics v_ended = row_count;
  delete from directory.identity_domains d where d.issuer = p_issuer and d.domain = v_domain;
  return v_ended;
end
$$;
comment on function directory.remove_identity_domain(text, text) is 'Removes a rule and returns how many links ended with it.';
