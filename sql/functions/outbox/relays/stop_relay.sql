-- A relay that stops in an orderly way removes its entry; the sweep forgets relays that die. The last turn of a relay on demand keeps its
-- entry until then, so that others see that it delivers.
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
comment on function outbox.stop_relay(integer) is 'Removes a relay''s entry, or notes that its turn ended.';
