-- One batch of the idempotency keys of a stream (I3): each must have the outbox row that it stands for. A key that was inserted by hand
-- would make the event that later needs it fail.
--
-- Here and in the other verification functions, a lateral subquery with "offset 0" is looked up row by row, so that tables are not read
-- from end to end. The planner's estimate of how much a range of ids holds is often wrong by a factor of a thousand; any other kind of join
-- would then read a large table once for every batch, or a batch once for every row.
create or replace function outbox.verify_keys(
  p_stream text, p_after_instruction text default '', p_after_key text default '', p_limit integer default 20000,
  out last_instruction text, out last_key text, out keys bigint, out findings jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  set enable_seqscan = off
as $$
declare
  v_stream_id smallint := outbox.stream_id(p_stream);
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 100000 keys.');
  end if;
  with batch as (
    select d.instruction_id, d.idempotency_key, d.outbox_id from outbox.dedupe d
     where d.stream_id = v_stream_id
       and (d.instruction_id, d.idempotency_key) > (coalesce(p_after_instruction, ''), coalesce(p_after_key, ''))
     order by d.instruction_id, d.idempotency_key limit p_limit
  )
  select count(*), (array_agg(b.instruction_id order by b.instruction_id desc, b.idempotency_key desc))[1],
         (array_agg(b.idempotency_key order by b.instruction_id desc, b.idempotency_key desc))[1],
         coalesce(jsonb_agg(jsonb_build_object('invariant', 'I3', 'code', 'key_without_row', 'subject', b.instruction_id,
                                               'detail', format('the idempotency key %s has no outbox row', b.idempotency_key)))
                    filter (where m.outbox_id is null), '[]')
    into keys, last_instruction, last_key, findings
    from batch b
    left join lateral (select m.outbox_id from outbox.payloads m where m.outbox_id = b.outbox_id offset 0) m on true;
  if keys < p_limit then
    last_instruction := null;
    last_key := null;
  end if;
end
$$;
comment on function outbox.verify_keys(text, text, text, integer)
  is 'Verifies a batch of a stream''s idempotency keys. Nullable: last_instruction, last_key.';
