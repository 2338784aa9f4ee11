-- Guards the functions that take changes as one object: it must be an object, and an unknown field is a typing error, which is refused and
-- not ignored.
create or replace function headroom.check_changes(p_changes jsonb, p_fields text[]) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
begin
  if p_changes is null or jsonb_typeof(p_changes) <> 'object' then
    perform headroom.fail('invalid_input', 'Changes are an object of fields and their new values.', null, 'Nothing was changed.');
  end if;
  select k into v_unknown from jsonb_object_keys(p_changes) k where k <> all (p_fields) limit 1;
  if v_unknown is not null then
    perform headroom.fail('invalid_input', format('There is no field "%s" here.', left(v_unknown, 64)),
      'known are ' || array_to_string(p_fields, ', '), 'Nothing was changed.');
  end if;
end
$$;
comment on function headroom.check_changes(jsonb, text[]) is 'Refuses changes unless they name known fields only.';
