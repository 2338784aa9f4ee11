-- When one of some instructions was last delivered, rows left aside whose idempotency key begins with p_but. The instructions are written
-- out by the caller, so that each costs an index probe. For streams that are kept for ever: their class is a constant here, because
-- the archive is partitioned by it and the other partitions need not be opened.
create or replace function outbox.last_delivered_at(p_stream_id smallint, p_instructions text[], p_but text) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz;
begin
  select max(a.recorded_at) into v_at
    from outbox.dedupe d
    join outbox.attempts a on a.outbox_id = d.outbox_id and a.class_id = 1 and a.state = 'DISPATCHED'
   where d.stream_id = p_stream_id and not starts_with(d.idempotency_key, p_but) and d.instruction_id = any (p_instructions);
  return v_at;
end
$$;
comment on function outbox.last_delivered_at(smallint, text[], text)
  is 'When one of some instructions of a stream that is kept for ever was last delivered. Nullable: result.';
