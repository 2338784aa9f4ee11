-- A call of Stripe as one row: it took nine parameters.
create type billing.stripe_call as (
  workspace_id text,
  stream text,
  key text,
  instruction_id text,
  idempotency_key text,
  payload jsonb,
  capture text,
  binds jsonb,
  expires_at timestamptz
);
comment on type billing.stripe_call is 'A call of Stripe: its row in the outbox, and the name under which its answer is captured.';

drop function if exists billing.ask_stripe(text, text, text, text, text, jsonb, text, jsonb, timestamptz);
drop function if exists billing.look(text, text, text, integer);
drop function if exists billing.look_for_checkout(billing.checkouts);
drop function if exists billing.draft_token(text, uuid, integer);
drop function if exists billing.end_open_checkouts(uuid);
drop function if exists billing.newest_payments();
drop function if exists billing.state_words(text);
