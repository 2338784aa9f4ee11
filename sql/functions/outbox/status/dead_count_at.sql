-- How many dead letters a destination has.
create or replace function outbox.dead_count_at(p_destination text) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select count(*)
    from outbox.dead x
    join outbox.payloads m on m.outbox_id = x.outbox_id
    join outbox.destinations d on d.destination_id = m.destination_id
   where d.name = p_destination
$$;
comment on function outbox.dead_count_at(text) is 'How many dead letters a destination has.';
