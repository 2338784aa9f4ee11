-- Hook of outbox.ended: remembers which messages ended without having been delivered. It only inserts, because a relay waits for it.
create or replace function notify.note_endings(p_rows jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into notify.endings (outbox_id, code)
  select (r ->> 'outbox_id')::uuid, left(r ->> 'code', 100) from jsonb_array_elements(p_rows) r where r ->> 'stream' = 'people'
  on conflict do nothing;
  return null;
end
$$;
comment on function notify.note_endings(jsonb) is 'Remembers messages that ended undelivered. Nullable: result.';
