-- Applies an event from Postal to its mail. A permanent failure suppresses the address only if the reply says so: a
-- policy or a full mailbox says nothing about the address. Postal also holds mail to an address that failed before. Clicks and the like are
-- ignored: nobody asked whether a mail was read.
create or replace function inbound.postal_handle(p_kind text, p_event jsonb) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_reply text := p_event ->> 'reply';
  v_gone boolean := coalesce(v_reply ~ '^5\d\d[ -]5\.(1\.(0|1|2|3|6|10)|2\.1)$' or v_reply in ('551', '553'), false);
  v_message jsonb := coalesce(nullif(p_event -> 'original_message', 'null'), p_event -> 'message');
  -- The row's id is our tag, or for a mail that Postal took by SMTP the first part of the Message-ID. Without one it is not our mail.
  v_row uuid := coalesce(substring(v_message ->> 'tag' from '^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'),
                         substring(v_message ->> 'message_id' from '^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@'))::uuid;
  v_learnt text;
begin
  if v_row is null then
    return 'ignored';
  end if;
  v_learnt := case
    when p_kind = 'MessageSent' then notify.record_outcome(v_row, 'delivered', null, null)
    when p_kind = 'MessageDeliveryFailed'
      then notify.record_outcome(v_row, 'bounced', case when v_gone then 'bounced' end,
                                coalesce('The server said ' || v_reply || '.', 'It was given up.'))
    when p_kind = 'MessageHeld' and p_event @> '{"suppressed": true}'
      then notify.record_outcome(v_row, 'bounced', 'bounced', 'Postal holds it back: the address is on its suppression list.')
    when p_kind = 'MessageBounced' then notify.record_outcome(v_row, 'bounced', 'bounced', 'It came back.')
  end;
  return case when v_learnt = 'learnt' then 'done' else 'ignored' end;
end
$$;
comment on function inbound.postal_handle(text, jsonb)
  is 'Applies Postal''s report about a mail; the outcome of the receipt. Nullable: p_event.';
