-- Hook of capacity.customer_erased: messages that made pages at Stripe carried the customer's address, and go; a page shows it, so
-- Stripe is asked to close it, and its address goes too. So do the hash of the customer's address, and their id at Stripe, by which they
-- are found there. What was paid, and by which ids at Stripe, is kept: the law wants it, and it names nobody.
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
  -- What somebody wrote about a finding may name the customer.
  update billing.findings f set resolution = '(erased)' where f.request_id = v_request_id and f.resolution is not null;
  delete from billing.customers c
   where c.customer_key = capacity.customer_key_of(v_request_id)
     and c.workspace_id = (select r.workspace_id from capacity.requests r where r.id = v_request_id);
  return nullif(jsonb_strip_nulls(jsonb_build_object(
    'billing', (select jsonb_agg(c.id) from billing.checkouts c where c.request_id = v_request_id),
    -- The wizard's mail went to the address before there was a request; which draft became it is known as long as the mail.
    'self-service', (select jsonb_agg('draft:' || d.id) from billing.drafts d where d.request_id = v_request_id))), '{}');
end
$$;
comment on function billing.erase_messages(jsonb)
  is 'Erases what Stripe was told about a customer, and names the messages. Nullable: result.';
