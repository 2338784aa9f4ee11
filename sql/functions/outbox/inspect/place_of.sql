-- Where a row is and what it waits for, by its id, for the layers above; see outbox.place_of_row().
create or replace function outbox.place_of(p_outbox_id uuid) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_place jsonb;
begin
  select outbox.place_of_row(m, s) into v_place
    from outbox.payloads m join outbox.streams s on s.stream_id = m.stream_id where m.outbox_id = p_outbox_id;
  return coalesce(v_place, '{"place": "collected"}');
end
$$;
comment on function outbox.place_of(uuid) is 'Place of a row, and what it waits for.';
