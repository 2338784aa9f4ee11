-- Checks, when a row is written, what it wants kept of its answer (captures) and what it wants filled in before it is sent (binds): a relay
-- must be able to use both. A renderer reads as the owner, so only rows of its own stream may name it.
create or replace function outbox.check_binds(p_stream outbox.streams, p_captures jsonb, p_binds jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  if octet_length(p_captures::text) > 8192 or octet_length(p_binds::text) > 8192 then
    v_wrong := 'Captures and binds have at most 8192 bytes each.';
  elsif jsonb_typeof(p_captures) <> 'object'
     or exists (select from jsonb_each(case when jsonb_typeof(p_captures) = 'object' then p_captures end) c
                 where not outbox.is_path(c.value)) then
    v_wrong := 'Captures are an object of names, each with the path of a field of the answer.';
  elsif jsonb_typeof(p_binds) <> 'array'
     or exists (select from jsonb_array_elements(case when jsonb_typeof(p_binds) = 'array' then p_binds end) b
                 where jsonb_typeof(b) <> 'object' or not outbox.is_path(b -> 'path')
                    or (jsonb_typeof(b -> 'capture') is distinct from 'string') = (jsonb_typeof(b -> 'renderer') is distinct from 'string')
                    or jsonb_typeof(coalesce(b -> 'required', 'true')) <> 'boolean') then
    v_wrong := 'Binds are a list of objects, each with a path and the name of a capture.';
  else
    select format('Stream "%s" has no renderer "%s".', p_stream.name, left(b ->> 'renderer', 80)) into v_wrong
      from jsonb_array_elements(case when jsonb_typeof(p_binds) = 'array' then p_binds end) b
     where b ? 'renderer'
       and not exists (select from outbox.renderers r where r.name = b ->> 'renderer' and r.stream_id = p_stream.stream_id)
     limit 1;
  end if;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', v_wrong, null, 'Nothing was written.');
  end if;
end
$$;
comment on function outbox.check_binds(outbox.streams, jsonb, jsonb)
  is 'Refuses captures and binds that no relay could use.';
