-- Takes an event from an application, in its own transaction, through one of the views payments.outbox_transfers and ledger.outbox_ledger.
-- Source and id identify the event: inserted again, it is the same row, which the statement returns as it is; with different content it is
-- refused. Its receivers are chosen at the end of the transaction, for all of its events together (webhooks.address_envelopes). Events that
-- another transaction publishes at the same time are found there, so that nobody waits for an event while holding another; the id is
-- derived from the event, and is the same for both.
create or replace function webhooks.insert_envelope() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream outbox.stream_settings;
  v_row webhooks.envelopes;
  v_instruction text := (new.payload ->> 'source') || ' ' || (new.payload ->> 'id');
begin
  if coalesce(new.status, 'PENDING') <> 'PENDING' or new.sent_at is not null or coalesce(new.retry_count, 0) <> 0 then
    perform headroom.fail('invalid_input', 'The columns status, sent_at and retry_count are derived and cannot be set.',
      null, 'Insert the payload alone. Nothing was written.');
  end if;
  select * into v_stream from outbox.stream_settings s where s.name = tg_argv[0];
  perform webhooks.check_envelope(new.payload, v_stream);
  select * into v_row from webhooks.envelopes e
   where e.stream_id = v_stream.stream_id and e.instruction_id = v_instruction and e.outbox_ids is not null;
  if not found then
    select * into v_row from webhooks.envelopes e
     where e.stream_id = v_stream.stream_id and e.instruction_id = v_instruction and e.outbox_ids is null;
  end if;
  if found then
    if v_row.payload <> new.payload then
      perform webhooks.refuse_other_content(v_row);
    end if;
    execute format('select * from %s where id = $1', tg_relid::regclass) into new using v_row.id;
    return new;
  end if;

  new.id := coalesce(new.id, encode(substring(sha256(convert_to(v_stream.stream_id || ' ' || v_instruction, 'UTF8')) from 1 for 16),
                                    'hex')::uuid);
  if exists (select from webhooks.envelopes e where e.id = new.id) then
    perform headroom.fail('conflict', format('The id %s belongs to another event.', new.id), null,
      'Leave the id out, and one is made. Nothing was written.');
  end if;
  -- An event that was collected is still known by its deliveries. Different content is refused here, and not by the commit.
  perform outbox.existing_row(d.stream_id, d.instruction_id, d.idempotency_key, new.payload::text, null)
     from outbox.rows d where d.stream_id = v_stream.stream_id and d.instruction_id = v_instruction;
  insert into webhooks.envelopes (id, stream_id, instruction_id, type, subject, payload)
  values (new.id, v_stream.stream_id, v_instruction, new.payload ->> 'type', new.payload ->> 'subject', new.payload)
  returning created_at into new.created_at;
  new.status := 'PENDING';
  new.retry_count := 0;
  new.deliveries := null;
  return new;
end
$$;
comment on function webhooks.insert_envelope() is 'Publishes an event that was inserted into the view of an event stream.';
