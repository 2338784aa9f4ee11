-- Tells the sender's side that a recipient's mail does not arrive, and what to do about it: the people whom a layer above names because it
-- knows whose customer it is (hook notify.bounced), otherwise the workspace's admins; a member also finds it in their inbox. The address
-- itself is not repeated. A person who got such a message within the last ten minutes finds the next ones only in the inbox, because many
-- mails often bounce together.
create or replace function notify.tell_bounced(p_delivery notify.deliveries) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := 'mail-failed:' || p_delivery.id;
  v_about text := (select min(n.about) from notify.parts p join notify.notifications n on n.id = p.notification_id
                    where p.delivery_id = p_delivery.id having count(distinct n.about) = 1);
  v_name text := (select m.display_name from directory.members m
                   where p_delivery.recipient_kind = 'member' and m.workspace_id = p_delivery.workspace_id and m.id = p_delivery.recipient);
  v_values jsonb := jsonb_build_object(
    'whom', notify.email_text(coalesce(v_name, 'the customer of ' || v_about, 'a customer'), 120),
    'customer', case when v_name is null then 'yes' end, 'spam', case when p_delivery.outcome = 'complained' then 'yes' end);
  v_text record;
  v_named jsonb;
  v_member_id text;
begin
  v_named := headroom.run_hooks('notify.bounced', jsonb_build_object(
    'workspace_id', p_delivery.workspace_id, 'delivery_id', p_delivery.id, 'recipient_kind', p_delivery.recipient_kind,
    'recipient', p_delivery.recipient, 'about', v_about, 'outcome', p_delivery.outcome)) -> 'tell';
  v_text := notify.told_text(p_delivery.workspace_id, 'mail_failed', v_values);
  for v_member_id in
    select m.id from directory.members m
     where m.workspace_id = p_delivery.workspace_id and m.active
       and case when v_named is null then 'admin' = any (m.roles) else v_named ? m.id end
       and not (p_delivery.recipient_kind = 'member' and m.id = p_delivery.recipient)
     order by m.id limit 20
  loop
    perform notify.tell(notify.recipient(p_delivery.workspace_id, 'member', v_member_id), v_key, notify.content(
      'operations', v_text.title, v_text.body,
      case when exists (
        select from notify.notifications n
         where n.workspace_id = p_delivery.workspace_id and n.recipient_kind = 'member' and n.recipient = v_member_id
           and n.channels @> array['in-app'] and n.cause = 'mail-failed' and n.created_at > clock_timestamp() - interval '10 minutes')
        then '{in-app}'::text[] end,
      p_about => v_about, p_cause => 'mail-failed'));
  end loop;
  if v_name is not null then
    v_text := notify.told_text(p_delivery.workspace_id, 'own_mail_failed', v_values);
    perform notify.tell(notify.recipient(p_delivery.workspace_id, 'member', p_delivery.recipient), v_key, notify.content(
      'operations', v_text.title, v_text.body,
      -- Not by mail, because mail is what does not arrive.
      array_remove(notify.channels_for(p_delivery.workspace_id, 'member', p_delivery.recipient, '{in-app,direct}'), 'email'),
      p_about => v_about, p_cause => 'mail-failed'));
  end if;
end
$$;
comment on function notify.tell_bounced(notify.deliveries) is 'Tells the sender''s side that mail to somebody does not arrive.';
