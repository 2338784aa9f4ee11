-- The refund of one of Stripe's objects: by its id there, or by our id in its metadata.
create or replace function billing.find_refund(p_refund jsonb) returns billing.refunds
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_named text := p_refund #>> '{metadata,headroom_refund}';
  v_refund billing.refunds;
begin
  select r.* into v_refund from billing.refunds r where r.stripe_id = p_refund ->> 'id';
  if v_refund.id is null and billing.is_ours(p_refund) and v_named ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select r.* into v_refund from billing.refunds r where r.id = v_named::uuid and r.stripe_id is null;
  end if;
  return v_refund;
end
$$;
comment on function billing.find_refund(jsonb) is 'The refund of an object of Stripe''s. Nullable: result.';
