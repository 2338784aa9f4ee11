-- Removes what a finished row carried, and the salt of its hash. The hash stays, here and in the archive, which is not touched: it
-- still says that the lines of the archive speak of one payload, and without the salt it says nothing about which. A repeat of the
-- idempotency key is still recognised, by the key alone.
create or replace function outbox.erase_payload(p_outbox_id uuid, p_actor text, p_reason text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload outbox.payloads;
begin
  perform outbox.check_operator(array[p_outbox_id], p_actor, p_reason);
  select * into v_payload from outbox.payloads m where m.outbox_id = p_outbox_id for update;
  if not found then
    raise exception 'there is no row %', p_outbox_id using errcode = 'HR006',
      hint = 'Its payload may have been collected with its archive; then nothing is left to erase.';
  elsif exists (select from outbox.pending p where p.lane_id = v_payload.lane_id and p.seq = v_payload.seq)
     or exists (select from outbox.pending_unordered u where u.outbox_id = p_outbox_id)
     or exists (select from outbox.dead d where d.outbox_id = p_outbox_id)
     or outbox.place_of_untouched(p_outbox_id) = 'in_flight' then
    raise exception 'row % is not finished', p_outbox_id using errcode = 'HR007',
      hint = 'Let it be delivered, or skip it, and erase its payload then.';
  elsif v_payload.erased_at is not null then
    return;
  end if;
  update outbox.payloads m
     set payload = null, erased_at = now(), erased_by = p_actor, erase_reason = p_reason
   where m.outbox_id = p_outbox_id;
  update outbox.dedupe d set salt = null
   where d.stream_id = v_payload.stream_id and d.instruction_id = v_payload.instruction_id
     and d.idempotency_key = v_payload.idempotency_key and d.outbox_id = p_outbox_id;
  -- Whoever keeps a copy of what it said erases it too.
  perform headroom.run_hooks('outbox.erased',
    jsonb_build_object('stream_id', v_payload.stream_id, 'instruction_id', v_payload.instruction_id));
end
$$;
comment on function outbox.erase_payload(uuid, text, text) is 'Erases the payload of a finished row with the salt of its hash; the hash and the archive stay.';
