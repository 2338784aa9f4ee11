-- Where a row is that is neither pending nor dead. The last line of an unfinished row in flight is DISPATCHING.
create or replace function outbox.in_flight_or_finished(p_outbox_id uuid) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when not exists (select from outbox.payloads m where m.outbox_id = p_outbox_id) then 'unknown'
    when (outbox.last_line(p_outbox_id, get_byte(uuid_send(p_outbox_id), 7)::smallint)).state = 'DISPATCHING' then 'in_flight'
    else 'finished'
  end;
end
$$;
comment on function outbox.in_flight_or_finished(uuid) is 'in_flight, finished or unknown, for a row that waits nowhere.';
