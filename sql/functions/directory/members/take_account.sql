-- An account is given to a member by an admin. Accounts are not passed on as addresses are: who had it before, under another id, is the
-- same person, and layers above refuse while somebody could be two persons at once. One that was taken from somebody is no longer barred.
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
  is 'Asks whether an account may be given to a member, and lifts its bar.';
