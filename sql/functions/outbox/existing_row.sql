-- The answer to a repeated enqueue: the row that is there already, or a refusal when the key now comes with another
-- payload. The number is unknown once the row's payload has been collected.
create or replace function outbox.existing_row(
  p_stream_id smallint, p_instruction_id text, p_idempotency_key text, p_payload_hash bytea,
  out outbox_id uuid, out seq bigint
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash bytea;
begin
  select d.outbox_id, d.payload_hash, m.seq into outbox_id, v_hash, seq
    from outbox.dedupe d left join outbox.payloads m on m.outbox_id = d.outbox_id
   where d.stream_id = p_stream_id and d.instruction_id = p_instruction_id and d.idempotency_key = p_idempotency_key;
  if v_hash <> p_payload_hash then
    raise exception 'idempotency key "%" of instruction "%" was used with another payload', left(p_idempotency_key, 80), left(p_instruction_id, 80)
      using errcode = 'HR005', detail = format('The first row is %s. Nothing was changed.', outbox_id),
            hint = 'Send the same payload again, or use a new idempotency key for a new intent.';
  end if;
end
$$;
comment on function outbox.existing_row(smallint, text, text, bytea) is 'The row that an idempotency key already stands for. Nullable: outbox_id, seq.';
