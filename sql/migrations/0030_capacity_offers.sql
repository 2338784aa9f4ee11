-- The price of a request, which a layer above sets when it is submitted, and offers whose end waits for something.

-- Part of the fold: REQUEST_SUBMITTED carries it, so that the log proves what the customer was asked to pay.
alter table capacity.requests add column offer jsonb;
comment on column capacity.requests.offer
  is 'The price, as it was when the request was submitted. Null: the customer confirms without paying.';

-- Offers whose time is over and that are not ended yet, because a layer above said so (hook capacity.expiry_due).
create table capacity.expiry_holds (
  request_id text primary key references capacity.requests,
  look_again_at timestamptz not null,
  since timestamptz not null default clock_timestamp()
);
comment on table capacity.expiry_holds is 'Offers past their deadline that wait for something, and when that is asked about again.';

-- Notices about a request's payment, which the layer above posts in words of its own.
alter table capacity.notices drop constraint notices_kind_check;
alter table capacity.notices add constraint notices_kind_check
  check (kind in ('warning', 'reminder', 'late', 'nudge', 'note', 'unasked', 'address', 'link', 'job', 'payment'));
