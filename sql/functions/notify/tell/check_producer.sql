-- Refuses callers who may not notify people: only machines, control, and logins that an operator named may.
create or replace function notify.check_producer() returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if (directory.caller()).kind in ('service', 'sql')
     or exists (select from notify.producers p where pg_has_role(session_user, p.role_name, 'usage')) then
    return;
  end if;
  perform headroom.fail('not_allowed', 'Only a service key, or a login that was named a producer, may notify people.', null,
                        'An operator names one: headroom notifications producers add. Nothing was written.');
end
$$;
comment on function notify.check_producer() is 'Refuses callers who may not notify people.';
