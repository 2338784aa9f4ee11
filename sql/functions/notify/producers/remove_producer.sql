-- Takes from a login the right to notify people; returns whether it had it.
create or replace function notify.remove_producer(p_role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_right record;
begin
  delete from notify.producers p where p.role_name = p_role;
  if not found then
    return false;
  end if;
  if exists (select from pg_roles r where r.rolname = p_role) then
    for v_right in select * from notify.producer_rights() loop
      execute format('revoke %s on %s from %I', v_right.privileges, v_right.object, p_role);
    end loop;
  end if;
  return true;
end
$$;
comment on function notify.remove_producer(text) is 'Takes from a login the right to notify people; whether it had it.';
