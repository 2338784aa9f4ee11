-- Hook of capacity.expiry_due: an offer does not expire while its payment is being processed.
create or replace function billing.hold_expiry(p_argument jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('billing', jsonb_build_object('hold_until', extract(epoch from billing.held_until(r))))
    from capacity.requests r
   where r.id = p_argument ->> 'request_id' and billing.held_until(r) is not null;
$$;
comment on function billing.hold_expiry(jsonb) is 'Until when the end of an offer waits. Nullable: result.';
