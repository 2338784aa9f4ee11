-- Customers: which requests of a workspace are for the same one. The caller gives an id, or the customer's address tells. What is kept of
-- either for good is a keyed hash, so that it stays true after an erasure.

-- The key of the hashes. Nobody but the owner reads it: with it, guesses at ids and addresses could be tried in peace.
create table capacity.customer_keys (
  workspace_id text primary key references directory.workspaces,
  key bytea not null check (octet_length(key) = 32)
);
comment on table capacity.customer_keys
  is 'The key of each workspace under which its customers are hashed: random, made on first use, never shown.';

-- By what a customer is recognised.
create table capacity.customer_marks (
  workspace_id text not null,
  mark bytea not null,
  customer_key bytea not null,
  is_id boolean not null,
  primary key (workspace_id, mark)
);
create index customer_marks_key on capacity.customer_marks (workspace_id, customer_key);
comment on table capacity.customer_marks is 'Ids and addresses of customers as keyed hashes, and whose they are.';
comment on column capacity.customer_marks.mark is 'HMAC-SHA-256 of `id:…` or of `address:…` in lower case, under the workspace''s key.';
comment on column capacity.customer_marks.customer_key is 'The first mark of the customer.';

-- Beside the requests and not in them, because the log knows nothing of it: the fold of a request is the same with and without.
create table capacity.request_customers (
  request_id text primary key references capacity.requests,
  workspace_id text not null,
  customer_key bytea not null,
  customer_id text check (length(customer_id) between 1 and 200)
);
create index request_customers_key on capacity.request_customers (workspace_id, customer_key);
comment on table capacity.request_customers is 'Whom each request is for, where that is known.';
comment on column capacity.request_customers.customer_key
  is 'The same on all requests of one customer in a workspace. Survives an erasure.';
comment on column capacity.request_customers.customer_id
  is 'The id as the caller gave it; null where none was given, and once it was erased.';

-- These take the id now.
drop function if exists public.create_capacity_request(
  text, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text, text);
drop function if exists public.preview_capacity_request(text, text, text, text, integer, text, numeric, text, text, jsonb);
drop function if exists capacity.submit(
  capacity.actor, text, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text);
drop function if exists capacity.check_terms(jsonb, text, integer, text, date, integer, numeric, integer, text);
