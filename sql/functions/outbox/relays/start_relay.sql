-- A relay announces itself when it starts, with the rails that it serves; its number is in every line that it writes. One on demand wants
-- no notifications: nobody would receive them.
create or replace function outbox.start_relay(p_name text, p_rails text[] default null, p_on_demand boolean default false)
returns integer
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select outbox.note_served(p_rails);
  insert into outbox.relays (name, rails, wants_notify, on_demand)
  values (left(coalesce(p_name, 'relay'), 200), p_rails, p_on_demand is not true, p_on_demand is true) returning relay_id;
$$;
comment on function outbox.start_relay(text, text[], boolean) is 'Registers a relay and returns its number.';
