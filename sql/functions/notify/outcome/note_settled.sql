-- Hook of outbox.finished: keeps which messages a channel took, and which were skipped. It only inserts, because a relay waits for it.
create or replace function notify.note_settled(p_finished jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_finished ->> 'stream' = 'people' then
    insert into notify.settled (outbox_id, sent, at)
    select d.outbox_id, (p_finished -> 'delivered')::boolean, (p_finished ->> 'at')::timestamptz
      from jsonb_array_elements_text(p_finished -> 'outbox_ids') i
      -- Without this check, one that was forgotten meanwhile would be kept forever.
      join notify.deliveries d on d.outbox_id = i::uuid
    on conflict do nothing;
  end if;
  return null;
end
$$;
comment on function notify.note_settled(jsonb) is 'Keeps the outcomes of messages. Nullable: result.';
