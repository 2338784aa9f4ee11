-- Whether a row was given up or skipped, so that nobody will get it unless an operator acts.
create or replace function outbox.is_lost(p_outbox_id uuid) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from outbox.dead x where x.outbox_id = p_outbox_id)
      or (outbox.last_line(p_outbox_id, get_byte(uuid_send(p_outbox_id), 7)::smallint)).state = 'SKIPPED' is true;
end
$$;
comment on function outbox.is_lost(uuid) is 'Whether a row was given up or skipped.';
