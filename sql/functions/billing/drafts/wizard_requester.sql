-- The member in whose name the wizard of a workspace submits requests. A workspace that does not exist, one whose wizard is closed and one
-- whose member has left get the same answer, so that visitors cannot find out who is here.
create or replace function billing.wizard_requester(p_workspace_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_member_id text;
begin
  select m.id into v_member_id
    from billing.settings s
    join directory.members m on m.workspace_id = s.workspace_id and m.id = s.self_service_requester and m.active
    join directory.workspaces w on w.id = s.workspace_id and w.public_url is not null
   where s.workspace_id = p_workspace_id;
  if not found then
    perform headroom.fail('not_found', 'Nothing can be ordered here.', null,
                          'Check the address, or ask the person who gave it to you.');
  end if;
  return v_member_id;
end
$$;
comment on function billing.wizard_requester(text) is 'The member in whose name the wizard submits, or a refusal where it is closed.';
