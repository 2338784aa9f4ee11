-- Checks whether an admin may give an account to a member. Accounts are not passed on as addresses are: its previous holder, under another
-- id, is the same person, and layers above refuse if one person would be two. An account that was taken from a member is no longer barred.
create or replace function directory.take_account(p_workspace_id text, p_issuer text, p_subject text, p_member_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_earlier text;
begin
  for v_earlier in
    select e.member_id from directory.ended_accounts e
     where e.workspace_id = p_workspace_id and e.issuer = p_issuer and e.subject = p_subject
     union
    select i.member_id from directory.identities i
     where i.workspace_id = p_workspace_id and i.issuer = p_issuer and i.subject = p_subject
  loop
    if v_earlier <> p_member_id then
      perform headroom.run_hooks('directory.account_given', jsonb_build_object('workspace_id', p_workspace_id, 'member_id', v_earlier));
    end if;
  end loop;
  delete from directory.ended_accounts e where e.workspace_id = p_workspace_id and e.issuer = p_issuer and e.subject = p_subject;
end
$$;
comment on function directory.take_account(text, text, text, text)
  is 'Checks whether an account may be given to a member, and lifts its bar.';
