-- The tenants whose rows wait for a destination, not counting rows that are being sent.
create or replace function outbox.waiting_tenants(p_destination text) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select distinct d.tenant_id
    from outbox.destinations d
   where d.name = p_destination and d.tenant_id is not null
     and exists (select from outbox.ways w
                  where exists (select from outbox.pending_unordered u
                                 where u.stream_id = w.stream_id and u.way_id = w.way_id and u.destination_id = d.destination_id)
                     or exists (select from outbox.heads h
                                 where h.stream_id = w.stream_id and h.way_id = w.way_id and h.destination_id = d.destination_id
                                   and h.claim_id is null and not h.blocked));
$$;
comment on function outbox.waiting_tenants(text) is 'The tenants whose rows wait for a destination.';
