-- Whether a call of Stripe was given up with an unknown outcome: Stripe may have carried it out.
create or replace function billing.is_in_doubt(p_stream text, p_instruction_id text, p_idempotency_key text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from outbox.rows o join outbox.dead_letters d on d.outbox_id = o.outbox_id and d.uncertain
                  where o.stream_id = outbox.stream_id(p_stream) and o.instruction_id = p_instruction_id
                    and o.idempotency_key = p_idempotency_key);
$$;
comment on function billing.is_in_doubt(text, text, text) is 'Whether a call of Stripe was given up, and may have been done.';
