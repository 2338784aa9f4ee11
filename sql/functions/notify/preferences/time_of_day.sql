-- A time of day as a person types it, 22:00; refuses anything else.
create or replace function notify.time_of_day(p_field text, p_value text) returns time
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value !~ '^([01]?[0-9]|2[0-3]):[0-5][0-9](:00)?$' then
    perform headroom.fail('invalid_input', format('%s is not a time of day.', initcap(replace(p_field, '_', ' '))), left(p_value, 40),
                          'Give hours and minutes, such as 22:00. Nothing was changed.');
  end if;
  return p_value::time;
end
$$;
comment on function notify.time_of_day(text, text) is 'A time of day as it is typed. Nullable: p_value, result.';
