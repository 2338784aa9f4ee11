-- Whose endpoints the caller keeps: an admin those of the own workspace; a machine's key and an operator those of the workspace that they
-- name, or with none named the installation's (a list then has all of them). Naming another workspace than the own one finds nothing.
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
comment on function directory.endpoint_workspace(text) is 'The workspace whose endpoints the caller keeps; refuses everybody else. Nullable: p_workspace_id, result.';
