-- The rows of a stream in a range of ids, and whether the idempotency keys know each one under its own id: for layers above, which verify
-- where their rows come from.
create or replace function outbox.rows_between(p_stream text, p_after uuid, p_to uuid)
returns table (outbox_id uuid, instruction_id text, idempotency_key text, known boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  select m.outbox_id, m.instruction_id, m.idempotency_key,
         (k.outbox_id, k.payload_hash) is not distinct from (m.outbox_id, m.payload_hash)
    from outbox.payloads m
    left join lateral (select k.outbox_id, k.payload_hash from outbox.dedupe k
                        where k.stream_id = m.stream_id and k.instruction_id = m.instruction_id
                          and k.idempotency_key = m.idempotency_key offset 0) k on true
   where m.outbox_id > p_after and m.outbox_id <= p_to and m.stream_id = (select outbox.stream_id(p_stream));
end
$$;
comment on function outbox.rows_between(text, uuid, uuid) is 'Rows of a stream in a range of ids.';
