-- Hook of outbox.erased: if the erased row delivered an event, that event has the same content and is erased with it.
create or replace function webhooks.erase_envelope(p_row jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update webhooks.envelopes e set payload = null
   where e.stream_id = (p_row ->> 'stream_id')::smallint and e.instruction_id = p_row ->> 'instruction_id'
     and e.outbox_ids is not null;
  return null;
end
$$;
comment on function webhooks.erase_envelope(jsonb) is 'Erases the event that an erased row delivered. Nullable: result.';
