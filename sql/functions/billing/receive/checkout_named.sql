-- The checkout that an object of Stripe's names in its metadata, if it is ours.
create or replace function billing.checkout_named(p_object jsonb) returns billing.checkouts
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_named text := p_object #>> '{metadata,headroom_checkout}';
  v_checkout billing.checkouts;
begin
  if billing.is_ours(p_object) and v_named ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select c.* into v_checkout from billing.checkouts c where c.id = v_named::uuid;
  end if;
  return v_checkout;
end
$$;
comment on function billing.checkout_named(jsonb) is 'The checkout that an object of Stripe''s names. Nullable: result.';
