-- The owner of the inbox: the member who is signed in. Machines have no inbox, and nobody can read another member's.
create or replace function notify.inbox_owner(out workspace_id text, out member_id text)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
begin
  if v_caller.kind <> 'member' then
    perform headroom.fail('not_signed_in', 'An inbox is read only by its owner.', null, 'Sign in and try again.');
  end if;
  workspace_id := v_caller.workspace_id;
  member_id := v_caller.member_id;
end
$$;
comment on function notify.inbox_owner() is 'The member whose inbox is read.';
