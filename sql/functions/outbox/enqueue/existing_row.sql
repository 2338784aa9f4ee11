-- The answer to a repeated enqueue: the row that is there already, or a refusal when the key now comes with another
-- payload. The number is unknown once the row's payload has been collected.
--
-- The hash that is kept is salted. Once the payload was erased its salt is gone, and whether the content is the same can no longer
-- be known: the key alone then decides, and the answer is the row that is there.
create or replace function outbox.existing_row(
  p_stream_id smallint, p_instruction_id text, p_idempotency_key text, p_body text,
  out outbox_id uuid, out seq bigint
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_same boolean;
begin
  select d.outbox_id, m.seq, d.payload_hash = sha256(uuid_send(d.salt) || convert_to(p_body, 'UTF8')) into outbox_id, seq, v_same
    from outbox.dedupe d left join outbox.payloads m on m.outbox_id = d.outbox_id
   where d.stream_id = p_stream_id and d.instruction_id = p_instruction_id and d.idempotency_key = p_idempotency_key;
  if not v_same then
    perform headroom.fail('idempotency_conflict',
      format('Idempotency key "%s" of instruction "%s" was used with another payload.',
             left(p_idempotency_key, 80), left(p_instruction_id, 80)),
      format('the first row is %s', outbox_id),
      'Send the same payload again, or use a new idempotency key for a new intent. Nothing was changed.');
  end if;
end
$$;
comment on function outbox.existing_row(smallint, text, text, text)
  is 'The row that an idempotency key already stands for. Nullable: outbox_id, seq.';
