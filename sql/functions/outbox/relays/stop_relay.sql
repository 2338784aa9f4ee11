-- A relay that ends in an orderly way takes its entry with it; those that die are forgotten by the sweep. The last turn of a relay on
-- demand stays until then, so that others see that it delivers.
create or replace function outbox.stop_relay(p_relay_id integer) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  delete from outbox.relays r
   where r.relay_id = p_relay_id and not r.on_demand
      or r.relay_id in (
         select o.relay_id
           from outbox.relays t join outbox.relays o on o.on_demand and o.name = t.name and o.ended_at is not null
          where t.relay_id = p_relay_id and t.on_demand
            for update of o skip locked);
  update outbox.relays r set ended_at = now(), seen_at = now() where r.relay_id = p_relay_id;
$$;
comment on function outbox.stop_relay(integer) is 'Takes a relay off the list, or notes that its turn ended.';
