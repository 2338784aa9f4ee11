-- The workspace whose templates the caller sees and changes: an admin those of their own workspace, machines and operators those of the
-- workspace that they name. An admin who names another one finds nothing.
create or replace function notify.template_workspace(p_workspace_id text, out workspace_id text, out actor text)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
begin
  workspace_id := coalesce(p_workspace_id, v_caller.workspace_id);
  actor := coalesce(v_caller.member_id, v_caller.via);
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs an admin who is signed in, or a service key.', null, 'Sign in and try again.');
  elsif v_caller.kind = 'member' and not exists (
          select from directory.members m
           where m.workspace_id = v_caller.workspace_id and m.id = v_caller.member_id and 'admin' = any (m.roles)) then
    perform headroom.fail('not_allowed', 'Only admins see and change what messages say.', null, 'Ask an admin. Nothing was changed.');
  elsif workspace_id is null then
    perform headroom.fail('invalid_input', 'Name the workspace whose templates these are.', null, 'Pass p_workspace_id.');
  elsif v_caller.kind = 'member' and workspace_id <> v_caller.workspace_id
        or not exists (select from directory.workspaces w where w.id = template_workspace.workspace_id) then
    perform headroom.fail('not_found', 'There is no such workspace.', null, 'Nothing was changed.');
  end if;
end
$$;
comment on function notify.template_workspace(text) is 'The workspace whose templates the caller changes. Nullable: p_workspace_id.';
