-- Stops mail to an address because its owner complained: in writing, or by a mailbox provider's report that reached an operator. Returns
-- whether it had not been suppressed. An address without a canonical form is taken only if mail went to exactly that spelling: another
-- spelling would stop nothing.
create or replace function notify.suppress_address(p_workspace_id text, p_address text, p_actor text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_address text := btrim(p_address, E' \n\t');
  v_mark bytea;
begin
  perform headroom.check_actor(p_actor);
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', 'There is no such workspace.', left(p_workspace_id, 80), 'Nothing was changed.');
  end if;
  v_mark := notify.address_mark(p_workspace_id, v_address);
  if headroom.canonical_address(v_address) is null
     and not exists (select from notify.deliveries d where d.workspace_id = p_workspace_id and d.address_mark = v_mark) then
    perform headroom.fail('invalid_input', 'That is not an address.', headroom.address_problem(v_address), 'Nothing was changed.');
  end if;
  return notify.suppress(p_workspace_id, v_mark, 'complained', 'Said by ' || p_actor);
end
$$;
comment on function notify.suppress_address(text, text, text)
  is 'Stops mail to an address whose owner complained; whether it was not yet stopped.';
