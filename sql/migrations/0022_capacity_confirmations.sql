-- The customer's links. One that went to an address which was replaced counts no more. The log names the first token of a request for
-- ever; one at most is in force.
create table capacity.confirmation_tokens (
  id uuid primary key,
  request_id text not null references capacity.requests,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  used_at timestamptz,
  used_for public.capacity_request_event_type
);
create unique index confirmation_tokens_in_force on capacity.confirmation_tokens (request_id) where revoked_at is null;
comment on table capacity.confirmation_tokens
  is 'The customer''s single-use links. The token itself is an HMAC over the id, made at the moment of sending and kept nowhere.';
comment on column capacity.confirmation_tokens.revoked_at is 'When the customer''s address was replaced, and with it the link.';
