-- Erases what a finished row carried, for operators: outbox.erase_finished(), but refuses a row that is not finished.
create or replace function outbox.erase_payload(p_outbox_id uuid, p_actor text, p_reason text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not outbox.erase_finished(p_outbox_id, p_actor, p_reason) then
    perform headroom.fail('conflict', format('Row %s is not finished.', p_outbox_id), null,
      'Let it be delivered, or skip it, and erase its payload then.');
  end if;
end
$$;
comment on function outbox.erase_payload(uuid, text, text)
  is 'Erases the payload of a finished row with the salt of its hash; the hash and the archive stay.';
