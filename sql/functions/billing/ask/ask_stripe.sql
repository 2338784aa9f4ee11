-- Enqueues one call of Stripe in the caller's transaction; the argument has the fields of billing.stripe_call. The whole answer is captured
-- under the given name and left for the sweep (keep_answers).
create or replace function billing.ask_stripe(p_call jsonb) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_call billing.stripe_call := jsonb_populate_record(null::billing.stripe_call, p_call);
  v_row record;
begin
  v_row := outbox.add_row(
    false, v_call.workspace_id, v_call.stream, v_call.key, v_call.instruction_id, v_call.idempotency_key, 'stripe', v_call.payload,
    p_expires_at => v_call.expires_at, p_destination => 'stripe', p_captures => jsonb_build_object(v_call.capture, '[]'::jsonb),
    p_binds => v_call.binds);
  return v_row.outbox_id;
end
$$;
comment on function billing.ask_stripe(jsonb) is 'Enqueues a call of Stripe and returns its row.';
