-- Whether a call of Stripe was given up or skipped without having been delivered.
create or replace function billing.is_given_up(p_stream text, p_instruction_id text, p_idempotency_key text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from outbox.rows o
                  where o.stream_id = outbox.stream_id(p_stream) and o.instruction_id = p_instruction_id
                    and o.idempotency_key = p_idempotency_key and outbox.is_lost(o.outbox_id));
$$;
comment on function billing.is_given_up(text, text, text) is 'Whether a call of Stripe was given up.';
