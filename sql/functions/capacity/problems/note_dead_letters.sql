-- Hook of outbox.ended: notes the dead rows of workspaces, until their operators are told. It only inserts, because a relay waits
-- for it; rows of one kind that end together are counted. It leaves out failures that have their own notification: an address that takes no
-- mail, and a person's webhook that is gone (notify.follow_endings). A row that expired is no dead letter.
create or replace function capacity.note_dead_letters(p_rows jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into capacity.problems (workspace_id, kind, stream, rail, code, count, outbox_id)
  select w.id, 'dead_letters', r.stream, r.rail, left(r.code, 100), count(*), m.outbox_id
    from jsonb_to_recordset(p_rows) r(stream text, outbox_id uuid, code text, tenant_id text, rail text)
    join directory.workspaces w on w.id = r.tenant_id
   cross join lateral (select case r.stream when 'people' then r.outbox_id end as outbox_id) m
   where r.code <> 'expired' and not (r.stream = 'people' and r.code in ('recipient_refused', 'webhook_gone'))
   group by w.id, r.stream, r.rail, r.code, m.outbox_id;
  return null;
end
$$;
comment on function capacity.note_dead_letters(jsonb) is 'Notes dead letters of workspaces. Nullable: result.';
