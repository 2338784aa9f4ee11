-- Stops mail to an address because its owner complained: by letter, or by a report of a mailbox provider that reached an operator. Says
-- whether it had not been suppressed.
create or replace function notify.suppress_address(p_workspace_id text, p_address text, p_actor text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.check_actor(p_actor);
  if coalesce(length(p_address) > 320 or p_address !~ '^\s*[^@\s]+@[^@\s]+\s*$', true) then
    perform headroom.fail('invalid_input', 'That is not an address.', 'somebody@example.org', 'Nothing was changed.');
  elsif not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', 'There is no such workspace.', left(p_workspace_id, 80), 'Nothing was changed.');
  end if;
  return notify.suppress(p_workspace_id, notify.address_mark(p_workspace_id, p_address), 'complained', 'Said by ' || p_actor);
end
$$;
comment on function notify.suppress_address(text, text, text)
  is 'Stops mail to an address of somebody who complained; whether that is news.';
