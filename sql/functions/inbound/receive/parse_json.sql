-- JSON from outside, as an object; anything else is refused, and no error of the parser gets out. JSON that is nested deeper than
-- providers nest is refused too: whatever passes can be processed by every later function, although those have less of the
-- stack left than this one.
create or replace function inbound.parse_json(p_text text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb;
begin
  begin
    v_value := p_text::jsonb;
  exception when data_exception or program_limit_exceeded then
    v_value := null;
  end;
  if v_value is null or jsonb_typeof(v_value) <> 'object' then
    perform headroom.fail('invalid_input', 'The payload is not a JSON object.');
  elsif headroom.too_deep(v_value, p_text) then
    perform headroom.fail('invalid_input', 'The payload is nested too deeply.', 'at most 64 levels');
  end if;
  return v_value;
end
$$;
comment on function inbound.parse_json(text) is 'A JSON object; raises invalid_input for anything else.';
