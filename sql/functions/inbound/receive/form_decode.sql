-- A form (application/x-www-form-urlencoded) as an object of texts. Each part is split at its first equals sign, since values may contain
-- more. Slack sends no name twice; a form that does is ambiguous and refused.
create or replace function inbound.form_decode(p_body text) returns jsonb
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_pairs text[] := string_to_array(p_body, '&');
  v_pair text;
  v_encoded boolean;
  v_name text;
  v_value text;
  v_fields jsonb := '{}';
begin
  if cardinality(v_pairs) > 200 then
    perform headroom.fail('invalid_input', 'The form has too many fields.', 'at most 200');
  end if;
  foreach v_pair in array v_pairs loop
    continue when v_pair = '';
    -- Most parts are plain words that need no decoding.
    v_encoded := v_pair ~ '[%+]';
    v_name := split_part(v_pair, '=', 1);
    if v_encoded then
      v_name := inbound.percent_decode(v_name);
    end if;
    if v_fields ? v_name then
      perform headroom.fail('invalid_input', 'The form has a field twice.', left(v_name, 80));
    end if;
    v_value := case when strpos(v_pair, '=') = 0 then '' else substr(v_pair, strpos(v_pair, '=') + 1) end;
    if v_encoded then
      v_value := inbound.percent_decode(v_value);
    end if;
    v_fields := v_fields || jsonb_build_object(v_name, v_value);
  end loop;
  return v_fields;
end
$$;
comment on function inbound.form_decode(text) is 'The fields of a form by name.';
