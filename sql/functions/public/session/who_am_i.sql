-- The signed-in member, with their entry in the directory: a page needs it to greet them and to know what to offer.
create or replace function public.who_am_i() returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
begin
  if v_caller.kind <> 'member' then
    perform headroom.fail('not_signed_in', 'You are not signed in as a member.', null, 'Sign in and try again.');
  end if;
  return (
    select jsonb_build_object(
             'workspace_id', m.workspace_id, 'workspace_name', w.name, 'member_id', m.id, 'name', m.display_name, 'roles', m.roles,
             'groups', array(select g.group_id from directory.group_members g where g.workspace_id = m.workspace_id and g.member_id = m.id
                             order by g.group_id))
      from directory.members m join directory.workspaces w on w.id = m.workspace_id
     where m.workspace_id = v_caller.workspace_id and m.id = v_caller.member_id);
end
$$;
comment on function public.who_am_i() is 'The member who is signed in, with roles and groups.';
