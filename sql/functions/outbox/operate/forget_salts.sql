-- Erases the salts of rows whose payload was collected long ago: nothing else is left of them. By instruction, up to a moment.
create or replace function outbox.forget_salts(p_stream_id smallint, p_instructions text[], p_to timestamptz) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update outbox.dedupe d set salt = null
   where d.stream_id = p_stream_id and d.instruction_id = any (p_instructions) and d.created_at <= p_to and d.salt is not null
     and not exists (select from outbox.payloads m where m.outbox_id = d.outbox_id and m.payload is not null)
$$;
comment on function outbox.forget_salts(smallint, text[], timestamptz) is 'Erases the salts of collected rows.';
