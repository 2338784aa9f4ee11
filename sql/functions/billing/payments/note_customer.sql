-- Stores the customer's id at Stripe, so that their next payment is the same customer's there. It is stored for the address that the page
-- was made for, which may differ from the request's current address.
create or replace function billing.note_customer(p_request capacity.requests, p_address_mark bytea, p_stripe_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into billing.customers as c (workspace_id, customer_key, address_mark, stripe_id)
  select p_request.workspace_id, k.customer_key, p_address_mark, p_stripe_id
    from (select capacity.customer_key_of(p_request.id) as customer_key) k
   where p_stripe_id is not null and p_address_mark is not null and k.customer_key is not null
     and not exists (select from capacity.erasures x where x.request_id = p_request.id)
  on conflict (workspace_id, customer_key, address_mark) do update set stripe_id = excluded.stripe_id, seen_at = clock_timestamp()
   where c.stripe_id <> excluded.stripe_id;
end
$$;
comment on function billing.note_customer(capacity.requests, bytea, text)
  is 'Stores a customer''s id at Stripe. Nullable: p_address_mark, p_stripe_id.';
