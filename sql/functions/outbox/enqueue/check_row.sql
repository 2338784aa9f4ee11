-- Refuses a bad row before anything is written, and names the rule that it breaks. Bytes are limited as well as characters because keys
-- are in indexes, whose entries have their own limit. p_checked: for an application, whose role may not do everything.
create or replace function outbox.check_row(
  p_stream outbox.streams, p_stream_name text, p_checked boolean, p_rail_id smallint, p_rail text,
  p_key text, p_instruction_id text, p_idempotency_key text, p_payload_bytes integer, p_too_deep boolean,
  p_priority integer, p_coalesce_key text, p_destination text, p_captures jsonb, p_binds jsonb
) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stream.stream_id is null then
    perform headroom.fail('unknown_stream', format('There is no stream "%s".', left(p_stream_name, 80)), null,
      'Make it with outbox.create_stream(), or list those there are: headroom outbox stream');
  elsif p_checked and p_stream.writers is not null and not outbox.may_write(p_stream.writers) then
    perform headroom.fail('not_allowed', format('Role "%s" may not write stream "%s".', outbox.enqueuer(), p_stream.name), null,
      case when p_stream.writers = '{}'
        then 'Only Headroom''s own functions write it. Make a stream of your own with outbox.create_stream().'
           else format('These may: %s. Nothing was written.', array_to_string(p_stream.writers, ', ')) end);
  elsif p_rail_id is null then
    perform headroom.fail('unknown_rail', format('There is no rail "%s".', left(p_rail, 80)), null,
      'Rails are registered by the relay that has them, or with outbox.register_rail().');
  elsif p_stream.ordered and p_key is null then
    perform headroom.fail('invalid_input', format('Stream "%s" keeps order, so a row needs a key.', p_stream.name));
  elsif length(p_key) not between 1 and 512 or octet_length(p_key) > 1024 then
    perform headroom.fail('invalid_input', 'A key has 1 to 512 characters in at most 1024 bytes.', format('%s characters', length(p_key)));
  elsif p_instruction_id is null or length(p_instruction_id) not between 1 and 512 or octet_length(p_instruction_id) > 1024 then
    perform headroom.fail('invalid_input', 'An instruction id has 1 to 512 characters in at most 1024 bytes.');
  elsif p_idempotency_key is null or length(p_idempotency_key) not between 1 and 512 or octet_length(p_idempotency_key) > 1024 then
    perform headroom.fail('invalid_input', 'An idempotency key has 1 to 512 characters in at most 1024 bytes.');
  elsif p_payload_bytes is null then
    perform headroom.fail('invalid_input', 'A row needs a payload.');
  elsif p_payload_bytes > p_stream.max_payload_bytes then
    perform headroom.fail('payload_too_large',
      format('The payload has %s bytes; stream "%s" takes %s.', p_payload_bytes, p_stream.name, p_stream.max_payload_bytes), null,
      'Store large things elsewhere and send a reference to them.');
  elsif p_too_deep then
    perform headroom.fail('invalid_input', 'The payload is nested deeper than 64 levels.', null,
      'Nest it less, or send the inner part as a text.');
  elsif p_priority is null or p_priority not between 0 and 9 then
    perform headroom.fail('invalid_input', 'A priority is a number from 0 to 9.');
  elsif p_coalesce_key is not null and (not p_stream.ordered or length(p_coalesce_key) not between 1 and 200) then
    perform headroom.fail('invalid_input', 'A coalesce key has 1 to 200 characters and needs an ordered stream.');
  elsif length(p_destination) not between 1 and 200 then
    perform headroom.fail('invalid_input', 'A destination has 1 to 200 characters.');
  elsif p_checked and p_destination is not null
        and exists (select from outbox.reserved_kinds k
                     where case when right(k.kind, 1) = ':' then starts_with(p_destination, k.kind) else p_destination = k.kind end) then
    perform headroom.fail('invalid_input', format('Destination "%s" is of a kind that only Headroom''s own functions name.',
        left(p_destination, 80)), null,
      'Choose another name. To reach endpoints of the database, publish an event; they receive it by their topics.');
  end if;
  if p_checked and (p_captures is not null or p_binds is not null) then
    perform outbox.check_binds(p_stream, p_captures, p_binds);
  end if;
end
$$;
comment on function outbox.check_row(outbox.streams, text, boolean, smallint, text, text, text, text, integer, boolean, integer, text,
                                     text, jsonb, jsonb)
  is 'Refuses a bad row with the rule that it breaks.';
