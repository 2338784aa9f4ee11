-- Lets mail go to an address again, because its owner says that it works. Returns whether it was suppressed.
create or replace function notify.lift_suppression(p_workspace_id text, p_address text, p_actor text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.check_actor(p_actor);
  update notify.suppressions s set lifted_at = clock_timestamp(), lifted_by = p_actor
   where s.workspace_id = p_workspace_id and s.lifted_at is null
     and s.address_mark = notify.address_mark(p_workspace_id, btrim(p_address, E' \n\t'));
  return found;
end
$$;
comment on function notify.lift_suppression(text, text, text) is 'Lets mail go to an address again; whether it had been suppressed.';
