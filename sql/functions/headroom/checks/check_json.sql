-- Checks every JSON object that comes from outside: it is bounded in bytes and depth, and has no control characters other than line feed
-- and tab, because no surface could show them. A control character below the space is always escaped in the text of a jsonb; DEL and those
-- that follow it never are.
create or replace function headroom.check_json(p_value jsonb, p_name text, p_most_bytes integer, p_code text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_value::text;
begin
  if v_text = '{}' then
    return;
  elsif p_value is null or jsonb_typeof(p_value) <> 'object' then
    perform headroom.fail(p_code, format('The %s must be a JSON object.', p_name), coalesce(jsonb_typeof(p_value), 'nothing'));
  elsif octet_length(v_text) > p_most_bytes then
    perform headroom.fail(p_code, format('The %s is too large.', p_name),
      format('%s bytes, at most %s', octet_length(v_text), p_most_bytes),
      'Store large things elsewhere and send a reference to them.');
  elsif jsonb_path_exists(p_value, 'strict $.**{9}') then
    perform headroom.fail(p_code, format('The %s is nested too deeply.', p_name), 'at most 8 levels');
  elsif v_text ~ '(?<!\\)(?:\\\\)*\\(?:[bfr]|u00)' or v_text ~ '[\u007f-\u009f]' then
    perform headroom.fail(p_code, format('The %s contains control characters.', p_name), 'only line feed and tab are allowed');
  end if;
end
$$;
comment on function headroom.check_json(jsonb, text, integer, text)
  is 'Refuses with the given code unless the value is an object that may be stored.';
