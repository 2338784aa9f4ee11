-- A time as Stripe gives it, in seconds since 1970; null if it is missing or implausible: before the year 2001 or after 2099.
create or replace function billing.seconds_in(p_field jsonb) returns bigint
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when jsonb_typeof(p_field) = 'number' and p_field #>> '{}' ~ '^[0-9]{10}$'
                   and (p_field #>> '{}')::bigint between 1000000000 and 4102444799 then (p_field #>> '{}')::bigint end;
end
$$;
comment on function billing.seconds_in(jsonb) is 'A time of Stripe''s, in seconds since 1970. Nullable: result.';
