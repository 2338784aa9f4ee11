-- Hook of directory.member_removed: erases what the member was told and chose. The next person with the id starts with nothing.
create or replace function notify.forget_member(p_member jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := p_member ->> 'workspace_id';
  v_id text := p_member ->> 'member_id';
begin
  perform notify.erase_told(array(
    select n.id from notify.notifications n
     where n.workspace_id = v_workspace_id and n.recipient_kind = 'member' and n.recipient = v_id and n.erased_at is null));
  -- Messages that no part points to any more, because another message sent it again.
  update notify.deliveries d set to_erase = true
   where d.workspace_id = v_workspace_id and d.recipient_kind = 'member' and d.recipient = v_id and not d.to_erase
     and not exists (select from notify.parts p where p.delivery_id = d.id);
  perform notify.forget_slack_webhook(v_workspace_id, v_id);
  delete from notify.people p where p.workspace_id = v_workspace_id and p.member_id = v_id;
  delete from notify.preferences p where p.workspace_id = v_workspace_id and p.whose = 'member:' || v_id;
  return '{}';
end
$$;
comment on function notify.forget_member(jsonb) is 'Erases what a member was told and chose.';
