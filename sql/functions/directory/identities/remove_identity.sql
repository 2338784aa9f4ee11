-- Ends the link between an account and a member, and the member's sessions in browsers. A rule for its domain does not link the account
-- again: an admin took it away, and only an admin gives it back.
create or replace function directory.remove_identity(p_issuer text, p_subject text, out workspace_id text, out member_id text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The workspace and the member first, as in everything that ends a link.
  perform from directory.workspaces w
    where w.id = (select i.workspace_id from directory.identities i where i.issuer = p_issuer and i.subject = p_subject) for no key update;
  update directory.members m set signed_out_at = clock_timestamp()
    from directory.identities i
   where i.issuer = p_issuer and i.subject = p_subject and m.workspace_id = i.workspace_id and m.id = i.member_id
  returning m.workspace_id, m.id into workspace_id, member_id;
  if member_id is null then
    perform headroom.fail('not_found', 'No member is linked to this account.', null,
                          'List the linked accounts: headroom members identity list');
  end if;
  delete from directory.identities i where i.issuer = p_issuer and i.subject = p_subject;
  insert into directory.ended_accounts as e (workspace_id, issuer, subject, member_id)
  values (remove_identity.workspace_id, p_issuer, p_subject, remove_identity.member_id)
  on conflict on constraint ended_accounts_pkey do update set member_id = excluded.member_id, ended_at = excluded.ended_at;
end
$$;
comment on function directory.remove_identity(text, text) is 'Unlinks an account from its member and ends the member''s sessions.';
