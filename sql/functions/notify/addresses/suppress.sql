-- Suppresses an address: mail to it bounced permanently or was complained about, or its server refused it by name. Mails that wait to be
-- sent there are given up, because they may wait for hours; one that is being sent at the moment still goes. Returns whether it was not yet
-- suppressed.
create or replace function notify.suppress(p_workspace_id text, p_mark bytea, p_reason text, p_said text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiting uuid[];
begin
  insert into notify.suppressions (workspace_id, address_mark, reason, said)
  values (p_workspace_id, p_mark, p_reason, left(p_said, 500))
  on conflict (workspace_id, address_mark) where lifted_at is null do nothing;
  if not found then
    return false;
  end if;
  v_waiting := array(select d.outbox_id from notify.deliveries d
                      where d.workspace_id = p_workspace_id and d.address_mark = p_mark and d.outcome is null
                        and exists (select from outbox.deliveries o where o.outbox_id = d.outbox_id and o.sent_at is null and not o.failed)
                      limit 10000);
  if v_waiting <> '{}' then
    update notify.parts p set state = 'dropped', reason = 'suppressed', delivery_id = null
      from outbox.skip(v_waiting, 'notify', 'nothing goes to this address any more') s
      join notify.deliveries d on d.outbox_id = s.outbox_id
     where s.result = 'skipped' and p.delivery_id = d.id and p.state = 'carried';
  end if;
  return true;
end
$$;
comment on function notify.suppress(text, bytea, text, text) is 'Suppresses an address; whether it was not yet. Nullable: p_said.';
