-- Lets a login of an application notify people in any workspace: by a call of notify(), or an insert into notification_outbox. Returns
-- whether it could not before. Shared roles are refused: what they may do, everybody may do.
create or replace function notify.add_producer(p_role text, p_actor text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_role pg_roles;
begin
  perform headroom.check_actor(p_actor);
  select r.* into v_role from pg_roles r where r.rolname = p_role;
  if not found then
    perform headroom.fail('not_found', 'There is no role of that name in the database.', left(p_role, 63),
                          'Create it first: create role <name> login. Nothing was changed.');
  elsif v_role.rolname in ('anon', 'authenticated', 'service_role', 'authenticator') or v_role.rolname ~ '^(headroom|pg)_'
        or pg_has_role('anon', v_role.oid, 'member') or pg_has_role('authenticated', v_role.oid, 'member') then
    perform headroom.fail('not_allowed', format('"%s" is not the login of one application: others use it too.', v_role.rolname), null,
                          'Name a login that the application alone uses. Machines use a service key. Nothing was changed.');
  end if;
  insert into notify.producers (role_name, added_by) values (v_role.rolname, p_actor) on conflict do nothing;
  if not found then
    return false;
  end if;
  perform notify.grant_producer(v_role.rolname);
  return true;
end
$$;
comment on function notify.add_producer(text, text) is 'Lets a login notify people; whether it could not before.';
