-- Why an enqueue wrote nothing: a bad row is refused, and a repeat is answered with the existing row.
create or replace function outbox.why_not_enqueued(
  p_checked boolean, p_stream text, p_key text, p_instruction_id text, p_idempotency_key text, p_rail text, p_body text, p_too_deep boolean,
  p_priority integer, p_coalesce_key text, p_destination text, p_captures jsonb, p_binds jsonb, p_terms jsonb,
  out outbox_id uuid, out seq bigint, out created boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream outbox.streams;
begin
  select * into v_stream from outbox.streams s where s.name = p_stream;
  perform outbox.check_row(
    v_stream, p_stream, p_checked, (select r.rail_id from outbox.rails r where r.name = p_rail), p_rail, p_key, p_instruction_id,
    p_idempotency_key, octet_length(p_body), p_too_deep, p_priority, p_coalesce_key, p_destination, p_captures, p_binds);
  if p_checked then
    perform outbox.check_rail(v_stream, (select r.rail_id from outbox.rails r where r.name = p_rail), p_rail);
  end if;
  created := false;
  select e.outbox_id, e.seq into outbox_id, seq
    from outbox.existing_row(v_stream.stream_id, p_instruction_id, p_idempotency_key, p_body, p_terms) e;
end
$$;
comment on function outbox.why_not_enqueued(boolean, text, text, text, text, text, text, boolean, integer, text, text, jsonb, jsonb, jsonb)
  is 'Refuses a bad row, or finds the row that a repeat stands for. Nullable: outbox_id, seq.';
