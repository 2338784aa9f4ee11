-- A relay announces itself when it starts; its number stands in every line that it writes.
create or replace function outbox.start_relay(p_name text) returns integer
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.relays (name) values (left(p_name, 200)) returning relay_id;
$$;
comment on function outbox.start_relay(text) is 'Registers a relay and returns its number.';
