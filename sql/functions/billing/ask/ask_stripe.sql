-- Enqueues one call of Stripe in the caller's transaction. What comes back is captured whole under the given name, and left for the sweep
-- (keep_answers).
create or replace function billing.ask_stripe(
  p_workspace_id text, p_stream text, p_key text, p_instruction_id text, p_idempotency_key text, p_payload jsonb, p_capture text,
  p_binds jsonb default null, p_expires_at timestamptz default null
) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
begin
  v_row := outbox.add_row(
    false, p_workspace_id, p_stream, p_key, p_instruction_id, p_idempotency_key, 'stripe', p_payload, p_expires_at => p_expires_at,
    p_destination => 'stripe', p_captures => jsonb_build_object(p_capture, '[]'::jsonb), p_binds => p_binds);
  return v_row.outbox_id;
end
$$;
comment on function billing.ask_stripe(text, text, text, text, text, jsonb, text, jsonb, timestamptz)
  is 'Enqueues a call of Stripe and answers its row. Nullable: p_workspace_id, p_binds, p_expires_at.';
