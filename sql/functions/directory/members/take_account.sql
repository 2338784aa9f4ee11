-- An account that was taken from somebody is given to a member, by an admin. Accounts are not passed on as addresses are: who was removed
-- and had it before is the same person under another id.
create or replace function directory.take_account(p_workspace_id text, p_issuer text, p_subject text, p_member_id text) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  with ended as (
    delete from directory.ended_accounts e
     where e.workspace_id = p_workspace_id and e.issuer = p_issuer and e.subject = p_subject
    returning e.member_id
  ), earlier as (
    select m.id from ended e
      join directory.members m on m.workspace_id = p_workspace_id and m.id = e.member_id and m.id <> p_member_id and not m.active
  )
  update directory.members m set same_as = nullif(p_member_id, m.id)
    from earlier e
   where m.workspace_id = p_workspace_id and (m.id = e.id or m.same_as = e.id);
$$;
comment on function directory.take_account(text, text, text, text)
  is 'Ends the ban on an account that an admin has linked, and notes whose it was before.';
