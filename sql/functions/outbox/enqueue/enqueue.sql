-- Adds one row in the caller's transaction, for applications, into streams that the caller's role may write. The result is assigned as a
-- whole, which is evaluated in place; a query would be set up again for each row.
create or replace function outbox.enqueue(
  p_stream text,
  p_key text,
  p_instruction_id text,
  p_idempotency_key text,
  p_rail text,
  p_payload jsonb,
  p_priority integer default 5,
  p_not_before timestamptz default null,
  p_expires_at timestamptz default null,
  p_coalesce_key text default null,
  p_destination text default null,
  p_captures jsonb default null,
  p_binds jsonb default null,
  out outbox_id uuid,
  out seq bigint,
  out created boolean
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
begin
  v_row := outbox.add_row(
    true, null, p_stream, p_key, p_instruction_id, p_idempotency_key, p_rail, p_payload, p_priority, p_not_before, p_expires_at,
    p_coalesce_key, p_destination, p_captures, p_binds);
  outbox_id := v_row.outbox_id;
  seq := v_row.seq;
  created := v_row.created;
end
$$;
comment on function outbox.enqueue(text, text, text, text, text, jsonb, integer, timestamptz, timestamptz, text, text, jsonb, jsonb)
  is 'Adds one row to a stream in the caller''s transaction, once per (stream, instruction, idempotency key). Nullable: seq.';
