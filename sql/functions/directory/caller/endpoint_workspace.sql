-- The workspace whose endpoints the caller manages: an admin manages those of their own workspace; a service key or an operator those of
-- the workspace that they name, or those of the installation if they name none (a list then shows all of them). An admin who names
-- another workspace finds nothing.
create or replace function directory.endpoint_workspace(p_workspace_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs an admin who is signed in, or a service key.', null, 'Sign in and try again.');
  elsif v_caller.kind <> 'member' then
    return p_workspace_id;
  elsif not exists (select from directory.members m
                     where m.workspace_id = v_caller.workspace_id and m.id = v_caller.member_id and 'admin' = any (m.roles)) then
    perform headroom.fail('not_allowed', 'Only admins manage the endpoints of a workspace.', null, 'Ask an admin.');
  elsif p_workspace_id <> v_caller.workspace_id then
    perform headroom.fail('not_found', 'There is nothing with that name in your workspace.');
  end if;
  return v_caller.workspace_id;
end
$$;
comment on function directory.endpoint_workspace(text)
  is 'The workspace whose endpoints the caller manages; refuses everybody else. Nullable: p_workspace_id, result.';
