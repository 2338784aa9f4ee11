-- What somebody entered into a field of a form, whichever kind of field it is. Pure.
create or replace function inbound.form_value(p_values jsonb, p_field text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_element jsonb := p_values #> array[p_field, 'value'];
  v_value jsonb := coalesce(nullif(v_element -> 'value', 'null'), nullif(v_element -> 'selected_date', 'null'),
                            nullif(v_element -> 'selected_user', 'null'),
                            nullif(v_element #> '{selected_option,value}', 'null'));
begin
  return case when jsonb_typeof(v_value) in ('string', 'number') then left(v_value #>> '{}', 4000) end;
end
$$;
comment on function inbound.form_value(jsonb, text) is 'The text, date, person or option in a field of a form. Nullable: result.';
