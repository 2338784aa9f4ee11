-- Bad input, said plainly, before anything is written. Bytes are limited besides characters because keys stand in indexes,
-- whose entries have a limit of their own. p_checked: for an application, whose
-- role may not do everything.
create or replace function outbox.check_row(
  p_stream outbox.streams, p_stream_name text, p_checked boolean, p_rail_id smallint, p_rail text, p_key text, p_instruction_id text,
  p_idempotency_key text, p_payload_bytes integer, p_too_deep boolean, p_priority integer, p_coalesce_key text, p_destination text, p_captures jsonb, p_binds jsonb
) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stream.stream_id is null then
    raise exception 'unknown stream "%"', left(p_stream_name, 80) using errcode = 'HR001',
      hint = 'Make it with outbox.create_stream(), or look at outbox.streams for those there are.';
  elsif p_checked and p_stream.writers is not null and not outbox.may_write(p_stream.writers) then
    raise exception 'role "%" may not write stream "%"', outbox.enqueuer(), p_stream.name using errcode = 'HR012',
      hint = case when p_stream.writers = '{}' then 'It is written by Headroom''s own functions alone. Make a stream of your own with outbox.create_stream().'
                  else format('It is written by %s. Nothing was written.', array_to_string(p_stream.writers, ', ')) end;
  elsif p_rail_id is null then
    raise exception 'unknown rail "%"', left(p_rail, 80) using errcode = 'HR002',
      hint = 'Rails are registered by the relay that has them, or with outbox.register_rail().';
  elsif p_stream.ordered and p_key is null then
    raise exception 'stream "%" keeps order and needs a key', p_stream.name using errcode = 'HR003';
  elsif length(p_key) not between 1 and 512 or octet_length(p_key) > 1024 then
    raise exception 'a key must have 1 to 512 characters in at most 1024 bytes, not %', length(p_key) using errcode = 'HR003';
  elsif p_instruction_id is null or length(p_instruction_id) not between 1 and 512 or octet_length(p_instruction_id) > 1024 then
    raise exception 'an instruction id must have 1 to 512 characters in at most 1024 bytes' using errcode = 'HR003';
  elsif p_idempotency_key is null or length(p_idempotency_key) not between 1 and 512 or octet_length(p_idempotency_key) > 1024 then
    raise exception 'an idempotency key must have 1 to 512 characters in at most 1024 bytes' using errcode = 'HR003';
  elsif p_payload_bytes is null then
    raise exception 'a row needs a payload' using errcode = 'HR003';
  elsif p_payload_bytes > p_stream.max_payload_bytes then
    raise exception 'the payload has % bytes; stream "%" takes %', p_payload_bytes, p_stream.name, p_stream.max_payload_bytes
      using errcode = 'HR004', hint = 'Put large things elsewhere and send a reference to them.';
  elsif p_too_deep then
    raise exception 'the payload is nested deeper than 64 levels' using errcode = 'HR003', hint = 'Nest it less, or send the inner part as a text.';
  elsif p_priority is null or p_priority not between 0 and 9 then
    raise exception 'a priority is a number from 0 to 9' using errcode = 'HR003';
  elsif p_coalesce_key is not null and (not p_stream.ordered or length(p_coalesce_key) not between 1 and 200) then
    raise exception 'a coalesce key has 1 to 200 characters and needs an ordered stream' using errcode = 'HR003';
  elsif length(p_destination) not between 1 and 200 then
    raise exception 'a destination must have 1 to 200 characters' using errcode = 'HR003';
  elsif p_checked and starts_with(p_destination, 'endpoint:') then
    raise exception 'destinations that begin with "endpoint:" belong to the endpoints of the database' using errcode = 'HR003',
      hint = 'Publish an event; endpoints hear of it by their topics. Or choose another name.';
  end if;
  if p_checked and (p_captures is not null or p_binds is not null) then
    perform outbox.check_binds(p_stream, p_captures, p_binds);
  end if;
end
$$;
comment on function outbox.check_row(outbox.streams, text, boolean, smallint, text, text, text, text, integer, boolean, integer, text, text, jsonb, jsonb)
  is 'Raises the one error that fits a bad row, or nothing.';
