-- Refuses anything but a CloudEvents 1.0 envelope, and names the rule that it breaks. Receivers are promised whole envelopes, and a bad one
-- must be found now: not hours later by a relay, nor by the commit, which names no event, because only the application that publishes it
-- can correct it. So id, source and subject are bounded so that what address_envelopes makes of them, the instruction `<source> <id>` and
-- the key `<endpoint>:<subject>`, is always within the limits of a row.
create or replace function webhooks.check_envelope(p_envelope jsonb, p_stream outbox.stream_settings) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes integer := octet_length(p_envelope::text);
  v_odd text;
  v_wrong text;
begin
  if p_envelope is null or jsonb_typeof(p_envelope) <> 'object' then
    perform headroom.fail('invalid_input', 'An event is a CloudEvents 1.0 envelope, which is a JSON object.', null,
      'Give specversion, id, source and type, and what it is about as data. Nothing was written.');
  elsif v_bytes > p_stream.max_payload_bytes then
    perform headroom.fail('payload_too_large',
      format('The envelope has %s bytes; stream "%s" takes %s.', v_bytes, p_stream.name, p_stream.max_payload_bytes), null,
      'Store large things elsewhere and send a reference to them. Nothing was written.');
  elsif headroom.too_deep(p_envelope, p_envelope::text) then
    perform headroom.fail('invalid_input', 'The envelope is nested deeper than 64 levels.', null,
      'Nest it less, or send the inner part as a text. Nothing was written.');
  end if;
  select min(a.key) into v_odd from jsonb_each(p_envelope) a
   where a.key not in ('data', 'data_base64')
     and (a.key !~ '^[a-z0-9]{1,64}$' or jsonb_typeof(a.value) not in ('string', 'number', 'boolean', 'null'));
  v_wrong := case
    when p_envelope -> 'specversion' is distinct from '"1.0"' then 'specversion is "1.0"'
    when jsonb_typeof(p_envelope -> 'id') is distinct from 'string' or length(p_envelope ->> 'id') not between 1 and 200
      then 'id is a text of 1 to 200 characters'
    when jsonb_typeof(p_envelope -> 'source') is distinct from 'string' or p_envelope ->> 'source' !~ '^[\x21-\x7e]+$'
      or length(p_envelope ->> 'source') > 300
      then 'source is a URI reference of 1 to 300 characters without spaces'
    when octet_length(p_envelope ->> 'source') + octet_length(p_envelope ->> 'id') > 1023
      then 'source and id may have at most 1023 bytes together'
    when jsonb_typeof(p_envelope -> 'type') is distinct from 'string' or p_envelope ->> 'type' !~ '^[\x21-\x7e]{1,200}$'
      then 'type is a text of 1 to 200 printable ASCII characters'
    when lower((p_envelope ->> 'type') collate "C") ~ '^(capacity|headroom)(\.|$)'
      or lower((p_envelope ->> 'source') collate "C") ~ '^/headroom(/|$)'
      then 'types that begin with capacity. or headroom., and sources that begin with /headroom, are Headroom''s own'
    when jsonb_typeof(p_envelope -> 'subject') not in ('string', 'null') or length(p_envelope ->> 'subject') not between 1 and 300
         or octet_length(p_envelope ->> 'subject') > 900
      then 'subject, when it is there, is a text of 1 to 300 characters in at most 900 bytes'
    when jsonb_typeof(p_envelope -> 'time') not in ('string', 'null')
         or p_envelope ->> 'time' !~ ('^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])'
              || '[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$')
      then 'time, when it is there, is a moment as RFC 3339 writes it'
    when jsonb_typeof(p_envelope -> 'datacontenttype') not in ('string', 'null') or p_envelope ->> 'datacontenttype' = ''
      then 'datacontenttype, when it is there, is a text'
    when jsonb_typeof(p_envelope -> 'dataschema') not in ('string', 'null') or p_envelope ->> 'dataschema' = ''
      then 'dataschema, when it is there, is a URI'
    when p_envelope ? 'data' and p_envelope ? 'data_base64' then 'an envelope has data or data_base64, and not both'
    when jsonb_typeof(p_envelope -> 'data_base64') <> 'string' then 'data_base64 is a text'
    when v_odd is not null
      then format('"%s" is not an attribute: names are small letters and digits, values are not objects or lists', left(v_odd, 80))
  end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('This is not a CloudEvents 1.0 envelope: %s.', v_wrong), null,
      'Correct it and insert it again. Nothing was written.');
  end if;
end
$$;
comment on function webhooks.check_envelope(jsonb, outbox.stream_settings) is 'Refuses a bad envelope with the rule that it breaks.';
