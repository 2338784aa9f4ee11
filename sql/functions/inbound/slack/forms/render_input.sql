-- One field of a form; a text that may be longer than 200 takes several lines. What is filled in must suit its element, or Slack refuses
-- the whole form; so what does not is left out. Pure.
create or replace function inbound.render_input(
  p_name text, p_label text, p_element text, p_optional boolean, p_value text default null, p_hint text default null,
  p_most integer default 200
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text := nullif(case when p_most > 200 then notify.render_text(p_value, p_most)
                              else regexp_replace(notify.render_text(p_value, p_most), '\s+', ' ', 'g') end, '');
  v_element jsonb := jsonb_build_object('type', p_element, 'action_id', 'value');
begin
  if p_element = 'number_input' then
    v_element := v_element
      || jsonb_build_object('is_decimal_allowed', p_name = 'cost', 'min_value', case when p_name = 'cost' then '0' else '1' end)
      || case when v_value ~ '^\d{1,13}(\.\d{1,2})?$' and (p_name = 'cost' or v_value !~ '\.')
                then jsonb_build_object('initial_value', v_value) else '{}' end;
  elsif p_element = 'datepicker' then
    v_element := v_element || case when inbound.parse_date(v_value) is null then '{}'
                                   else jsonb_build_object('initial_date', to_char(inbound.parse_date(v_value), 'YYYY-MM-DD')) end;
  elsif p_element = 'users_select' then
    v_element := v_element || case when v_value ~ '^[UW][A-Z0-9]{2,31}$' then jsonb_build_object('initial_user', v_value) else '{}' end;
  elsif p_element in ('plain_text_input', 'email_text_input') then
    v_element := v_element || case when p_element = 'plain_text_input' then jsonb_build_object('max_length', p_most) else '{}' end
      || case when p_most > 200 then '{"multiline": true}'::jsonb else '{}' end
      || case when v_value is null or p_element = 'email_text_input' and v_value !~ '^[^@\s]+@[^@\s]+\.[^@\s]+$' then '{}'
              else jsonb_build_object('initial_value', v_value) end;
  end if;
  return jsonb_build_object('type', 'input', 'block_id', p_name, 'optional', p_optional, 'element', v_element,
                            'label', jsonb_build_object('type', 'plain_text', 'text', p_label))
    || case when p_hint is null then '{}' else jsonb_build_object('hint', jsonb_build_object('type', 'plain_text', 'text', p_hint)) end;
end
$$;
comment on function inbound.render_input(text, text, text, boolean, text, text, integer) is 'An input block of a form.';
