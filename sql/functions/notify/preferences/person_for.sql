-- The member whose preferences a caller reads or changes: members their own, admins anybody's in their workspace, machines and operators
-- those of the member that they name. A caller who is not an admin cannot find out whether others exist.
create or replace function notify.person_for(p_member_id text, p_workspace_id text) returns directory.members
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_workspace_id text := coalesce(p_workspace_id, v_caller.workspace_id);
  v_member_id text := coalesce(p_member_id, v_caller.member_id);
  v_member directory.members;
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'Preferences are for members who are signed in, and for a service key.', null,
                          'Sign in and try again.');
  elsif v_workspace_id is null or v_member_id is null then
    perform headroom.fail('invalid_input', 'Name the workspace and the member whose preferences these are.', null,
                          'Pass p_workspace_id and p_member_id.');
  elsif v_caller.kind = 'member' and (v_workspace_id, v_member_id) <> (v_caller.workspace_id, v_caller.member_id)
        and not exists (select from directory.members m
                         where m.workspace_id = v_caller.workspace_id and m.id = v_caller.member_id and 'admin' = any (m.roles)) then
    perform headroom.fail('not_allowed', 'Only admins see and change the preferences of others.', null,
                          'Leave the member out for your own. Nothing was changed.');
  end if;
  if v_caller.kind <> 'member' or v_workspace_id = v_caller.workspace_id then
    v_member := directory.find_member(v_workspace_id, v_member_id);
  end if;
  if v_member.id is null or not v_member.active then
    perform headroom.fail('not_found', 'There is no active member of that name in the workspace.', null,
                          'List members: headroom members list. Nothing was changed.');
  end if;
  return v_member;
end
$$;
comment on function notify.person_for(text, text)
  is 'The member whose preferences a caller may see and change. Nullable: p_member_id, p_workspace_id.';
