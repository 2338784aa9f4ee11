-- Erases what a finished row carried, what was answered to it, and the salt of its hash; returns whether it was finished. The hash stays,
-- here and in the archive, which is not touched: it still proves that the lines of the archive are about one payload, but without the salt
-- it does not show which. A repeat of the idempotency key is still recognised, by the key alone.
create or replace function outbox.erase_finished(p_outbox_id uuid, p_actor text, p_reason text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload outbox.payloads;
begin
  perform outbox.check_operator(array[p_outbox_id], p_actor, p_reason);
  select * into v_payload from outbox.payloads m where m.outbox_id = p_outbox_id for update;
  if not found then
    perform headroom.fail('not_found', format('There is no row %s.', p_outbox_id), null,
      'Its payload may have been collected with its archive; then nothing is left to erase.');
  elsif exists (select from outbox.pending p where p.lane_id = v_payload.lane_id and p.seq = v_payload.seq)
     or exists (select from outbox.pending_unordered u where u.outbox_id = p_outbox_id)
     or exists (select from outbox.dead d where d.outbox_id = p_outbox_id)
     or outbox.in_flight_or_finished(p_outbox_id) = 'in_flight' then
    return false;
  elsif v_payload.erased_at is not null then
    return true;
  end if;
  update outbox.payloads m
     set payload = null, erased_at = now(), erased_by = p_actor, erase_reason = p_reason
   where m.outbox_id = p_outbox_id;
  delete from outbox.answers a where a.outbox_id = p_outbox_id;
  update outbox.dedupe d set salt = null
   where d.stream_id = v_payload.stream_id and d.instruction_id = v_payload.instruction_id
     and d.idempotency_key = v_payload.idempotency_key and d.outbox_id = p_outbox_id;
  -- Layers above that keep a copy of the payload erase it too.
  perform headroom.run_hooks('outbox.erased',
    jsonb_build_object('stream_id', v_payload.stream_id, 'instruction_id', v_payload.instruction_id));
  return true;
end
$$;
comment on function outbox.erase_finished(uuid, text, text)
  is 'Erases the payload of a row if the row is finished, and returns whether it is.';
