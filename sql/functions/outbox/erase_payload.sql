-- Removes what a finished row carried. The hash stays, so that a repeat is still recognised and the archive can still be
-- checked; the archive holds no payload and is not touched.
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
end
$$;
comment on function outbox.erase_payload(uuid, text, text) is 'Erases the payload of a finished row; its hash and its archive stay.';
