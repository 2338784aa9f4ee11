-- Adds a payment instruction to the outbox of its participant, in the caller's transaction. A repeat with the same instruction and
-- idempotency key returns the existing row and allocates no number.
create or replace function payments.enqueue_payment_outbox(
  p_instruction_id text,
  p_participant_id text,
  p_idempotency_key text,
  p_rail_type text,
  p_payload jsonb,
  out outbox_id uuid,
  out sequence_id bigint,
  out created boolean
)
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select e.outbox_id, e.seq, e.created
    from outbox.add_row(true, null, 'payments', p_participant_id, p_instruction_id, p_idempotency_key, p_rail_type, p_payload) e;
$$;
comment on function payments.enqueue_payment_outbox(text, text, text, text, jsonb)
  is 'Adds a payment to its participant''s sequence, once per (instruction, idempotency key). Nullable: sequence_id.';
