-- Hook of capacity.customer_erased. Messages that made pages at Stripe carried the customer's address, so they are erased. A page shows the
-- address, so Stripe is asked to close the page, and the page's URL is erased. The hash of the customer's address, and their id at Stripe,
-- by which they can be found there, are erased too. Payments and their ids at Stripe are kept: the law requires it, and they name nobody.
create or replace function billing.erase_messages(p_erasure jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request_id text := p_erasure ->> 'request_id';
  v_open billing.checkouts := billing.open_checkout(v_request_id);
begin
  if v_open.created_at <= (p_erasure ->> 'to')::timestamptz then
    perform billing.abandon_checkout(v_open);
  end if;
  update billing.sessions s set url = '(erased)'
    from billing.checkouts c
   where c.request_id = v_request_id and s.checkout_id = c.id and s.url <> '(erased)'
     and s.answered_at <= (p_erasure ->> 'to')::timestamptz;
  update billing.checkouts c set address_mark = null where c.request_id = v_request_id and c.address_mark is not null;
  -- A note about a finding may name the customer.
  update billing.findings f set resolution = '(erased)' where f.request_id = v_request_id and f.resolution is not null;
  delete from billing.customers c
   where c.customer_key = capacity.customer_key_of(v_request_id)
     and c.workspace_id = (select r.workspace_id from capacity.requests r where r.id = v_request_id);
  return nullif(jsonb_strip_nulls(jsonb_build_object(
    'billing', (select jsonb_agg(c.id) from billing.checkouts c where c.request_id = v_request_id),
    -- The wizard's mail went to the address before there was a request. Which draft became this request is known for as long as the mail is
    -- kept.
    'self-service', (select jsonb_agg('draft:' || d.id) from billing.drafts d where d.request_id = v_request_id))), '{}');
end
$$;
comment on function billing.erase_messages(jsonb)
  is 'Erases what was sent to Stripe about a customer, and names the messages. Nullable: result.';
