-- Registers a key before it is handed out. A key id is used once: a second key under the same id would be revoked with the first.
create or replace function directory.put_api_key(
  p_id text, p_role text, p_workspace_id text default null, p_member_id text default null, p_expires_at timestamptz default null,
  p_note text default null
) returns directory.api_keys
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_key directory.api_keys;
begin
  if p_id is null or p_id !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' then
    perform headroom.fail('invalid_input', 'The id of a key is 1 to 64 letters, digits, dots, dashes or underscores.', left(p_id, 80));
  elsif p_role is null or p_role not in ('service_role', 'authenticated') or (p_role = 'authenticated') <> (p_member_id is not null) then
    perform headroom.fail('invalid_input', 'A key is for a service (service_role), or for a member (authenticated) whom it names.');
  elsif length(p_note) not between 1 and 200 or p_note ~ '[[:cntrl:]]' then
    perform headroom.fail('invalid_input', 'A note is 1 to 200 characters on one line.');
  elsif p_expires_at <= clock_timestamp() then
    perform headroom.fail('invalid_input', 'The key would already be expired.');
  elsif not headroom.is_moment(p_expires_at) then
    perform headroom.fail('invalid_input', 'A key expires before the year 10000.', null,
                          'Leave the time out for one that does not expire.');
  end if;
  if p_member_id is not null then
    -- Locked, so that a removal that comes at the same time ends this key too.
    perform from directory.members m where m.workspace_id = p_workspace_id and m.id = p_member_id and m.active for share;
    if not found then
      perform headroom.fail('not_found', format('There is no active member "%s" in this workspace.', left(p_member_id, 64)), null,
                            'List members: headroom members list');
    end if;
  end if;
  insert into directory.api_keys as k (id, role, workspace_id, member_id, expires_at, note)
  values (p_id, p_role, case when p_member_id is not null then p_workspace_id end, p_member_id, p_expires_at, p_note)
  on conflict (id) do nothing
  returning k.* into v_key;
  if v_key.id is null then
    perform headroom.fail('conflict', format('There is already a key "%s".', p_id), null, 'Choose another id. Nothing was changed.');
  end if;
  return v_key;
end
$$;
comment on function directory.put_api_key(text, text, text, text, timestamptz, text) is 'Registers a key that is about to be handed out.';
