-- Refuses settings that are not an object, and settings that are not among p_known.
create or replace function outbox.check_stream_settings(p_settings jsonb, p_known text[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
begin
  if jsonb_typeof(p_settings) is distinct from 'object' then
    perform headroom.fail('invalid_input', 'Settings of a stream are an object of settings and their values.', null,
      'Such as {"max_tries": 8}. Nothing was changed.');
  end if;
  select string_agg(k, ', ' order by k) into v_unknown from jsonb_object_keys(p_settings) k where k <> all (p_known);
  if v_unknown is not null then
    perform headroom.fail('invalid_input', format('A stream has no such setting, or it is fixed: %s.', left(v_unknown, 200)),
      'these can be set: ' || array_to_string(p_known, ', '), 'Nothing was changed.');
  end if;
end
$$;
comment on function outbox.check_stream_settings(jsonb, text[]) is 'Refuses settings that a stream does not have.';
