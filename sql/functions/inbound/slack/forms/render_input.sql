-- One field of a form. Slack refuses the whole form if a prefilled value does not suit its element, so unsuitable values are left out.
-- `text_area` is a text of several lines; the options are those of a menu. Pure.
create or replace function inbound.render_input(
  p_name text, p_label text, p_element text, p_optional boolean, p_value text default null, p_hint text default null,
  p_most integer default 200, p_options jsonb default null
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := notify.render_text(p_value, p_most);
  v_value text := nullif(regexp_replace(v_text, '\s+', ' ', 'g'), '');
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'type', 'input', 'block_id', p_name, 'optional', p_optional, 'label', notify.slack_plain(p_label),
    'hint', case when p_hint is not null then notify.slack_plain(p_hint) end,
    'element', jsonb_build_object('type', case p_element when 'text_area' then 'plain_text_input' else p_element end, 'action_id', 'value')
      || case p_element
        when 'plain_text_input' then jsonb_build_object('max_length', p_most, 'initial_value', v_value)
        when 'text_area' then jsonb_build_object(
          'max_length', p_most, 'initial_value', nullif(v_text, ''), 'multiline', true,
          'min_length', case when not p_optional then 1 end)
        when 'email_text_input' then jsonb_build_object('initial_value', substring(v_value from '^[^@\s]+@[^@\s]+\.[^@\s]+$'))
        when 'number_input' then jsonb_build_object(
          'is_decimal_allowed', p_name = 'cost', 'min_value', case p_name when 'cost' then '0' else '1' end,
          'initial_value', substring(v_value from case p_name when 'cost' then '^\d{1,13}(?:\.\d{1,2})?$' else '^\d{1,13}$' end))
        when 'datepicker' then jsonb_build_object('initial_date', to_char(inbound.parse_date(v_value), 'YYYY-MM-DD'))
        when 'users_select' then jsonb_build_object('initial_user', substring(v_value from '^[UW][A-Z0-9]{2,31}$'))
        when 'static_select' then jsonb_build_object('options', p_options, 'initial_option', (
          select o.value from jsonb_array_elements(p_options) o where o.value ->> 'value' = p_value limit 1)) end));
end
$$;
comment on function inbound.render_input(text, text, text, boolean, text, text, integer, jsonb) is 'An input block of a form.';
