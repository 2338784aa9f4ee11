-- A relay that ends in an orderly way takes its entry with it; those that die are forgotten by the sweep.
create or replace function outbox.stop_relay(p_relay_id integer) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  delete from outbox.relays where relay_id = p_relay_id;
$$;
comment on function outbox.stop_relay(integer) is 'Takes a relay off the list.';
