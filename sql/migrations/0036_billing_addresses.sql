-- Whoever is sent to Stripe as one of its customers finds that customer's address there, and the cards that they have kept. A customer here
-- may have several addresses, and people give a request another one: so a customer at Stripe is of one address, the one that the page was
-- made for. Those that are known were noted without it: the next payment of each makes a new one at Stripe.
delete from billing.customers;
alter table billing.customers
  add column address_mark bytea not null,
  drop constraint customers_pkey,
  add primary key (workspace_id, customer_key, address_mark);
comment on table billing.customers is 'The Stripe customer of each customer who has paid, for each of their addresses.';
comment on column billing.customers.address_mark is 'Keyed hash of the address that the customer had when they were sent to pay.';

alter table billing.checkouts add column address_mark bytea;
comment on column billing.checkouts.address_mark
  is 'Keyed hash of the address that the request''s customer had when the page was asked for. Null: they had none, or were erased.';

drop function if exists billing.note_customer(capacity.requests, text);
