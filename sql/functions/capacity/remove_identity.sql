-- Ends the link between an account and a member, and the sessions in browsers that the member has.
create or replace function capacity.remove_identity(p_issuer text, p_subject text, out workspace_id text, out member_id text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from capacity.identities i where i.issuer = p_issuer and i.subject = p_subject
  returning i.workspace_id, i.member_id into workspace_id, member_id;
  if member_id is null then
    perform capacity.fail('not_found', 'No member is linked to this account.', null, 'List what is linked: headroom members identity list');
  end if;
  update capacity.members m set signed_out_at = clock_timestamp()
   where m.workspace_id = remove_identity.workspace_id and m.id = remove_identity.member_id;
end
$$;
comment on function capacity.remove_identity(text, text) is 'Unlinks an account from its member and ends the member''s sessions.';
