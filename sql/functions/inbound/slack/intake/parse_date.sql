-- A day as year-month-day, whatever the session's date style; null for everything else.
create or replace function inbound.parse_date(p_text text) returns date
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text !~ '^\d{4}-\d{1,2}-\d{1,2}$' then
    return null;
  end if;
  return make_date(split_part(p_text, '-', 1)::integer, split_part(p_text, '-', 2)::integer, split_part(p_text, '-', 3)::integer);
exception when data_exception then
  return null;
end
$$;
comment on function inbound.parse_date(text) is 'A date in ISO form. Nullable: result.';
