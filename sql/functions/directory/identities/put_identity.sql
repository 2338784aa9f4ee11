-- Links an account at an identity provider to a member, when an admin says so. An account belongs to one member; linking it to another
-- ends the sessions of the previous one.
create or replace function directory.put_identity(
  p_workspace_id text, p_member_id text, p_issuer text, p_subject text
) returns directory.identities
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_identity directory.identities;
begin
  perform directory.check_issuer(p_issuer);
  if p_subject is null or length(p_subject) not between 1 and 255 or p_subject ~ '[[:cntrl:]]' then
    perform headroom.fail('invalid_input', 'The subject is the provider''s id of the account: 1 to 255 characters.');
  end if;
  -- The workspace first, as in everything that changes its directory.
  perform from directory.workspaces w
    where w.id in (select p_workspace_id union all
                   select i.workspace_id from directory.identities i where i.issuer = p_issuer and i.subject = p_subject)
    order by w.id for no key update;
  -- Both members are locked, in one order: a concurrent removal ends this link too, and two moves do not deadlock.
  perform from directory.members m
    where (m.workspace_id, m.id) in (select p_workspace_id, p_member_id
                                     union all
                                     select i.workspace_id, i.member_id from directory.identities i
                                      where i.issuer = p_issuer and i.subject = p_subject)
    order by m.workspace_id, m.id for no key update;
  if not exists (select from directory.members m where m.workspace_id = p_workspace_id and m.id = p_member_id and m.active) then
    perform headroom.fail('not_found', format('There is no active member "%s" in this workspace.', left(p_member_id, 64)), null,
                          'List members: headroom members list');
  end if;
  perform directory.take_account(p_workspace_id, p_issuer, p_subject, p_member_id);
  update directory.members m set signed_out_at = clock_timestamp()
    from directory.identities i
   where i.issuer = p_issuer and i.subject = p_subject and m.workspace_id = i.workspace_id and m.id = i.member_id
     and (i.workspace_id, i.member_id) <> (p_workspace_id, p_member_id);
  insert into directory.identities as i (issuer, subject, workspace_id, member_id)
  values (p_issuer, p_subject, p_workspace_id, p_member_id)
  on conflict (issuer, subject) do update set workspace_id = excluded.workspace_id, member_id = excluded.member_id, domain = null
  returning i.* into v_identity;
  return v_identity;
end
$$;
comment on function directory.put_identity(text, text, text, text)
  is 'Links an account at an identity provider to a member. Nullable: domain.';
