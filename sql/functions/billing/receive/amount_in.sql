-- An amount as Stripe gives it, in minor units, or null if it is not a non-negative whole number.
create or replace function billing.amount_in(p_field jsonb) returns bigint
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when jsonb_typeof(p_field) = 'number' and p_field #>> '{}' ~ '^[0-9]{1,15}$' then (p_field #>> '{}')::bigint end;
end
$$;
comment on function billing.amount_in(jsonb) is 'An amount in minor units. Nullable: result.';
