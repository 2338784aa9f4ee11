-- A message found no webhook any more, because Slack says that it is gone or because its owner removed it. What the message carried is sent
-- again another way: by a webhook that was set since, by the bot if it knows them, otherwise by mail. A webhook that is gone is forgotten,
-- and the person finds the reason in their inbox; several messages may find that out. The dead letter is finished, so that nobody also
-- sends it again; if it is already being sent again, nothing is done here.
create or replace function notify.webhook_gone(p_delivery_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_delivery notify.deliveries;
  v_text record;
  v_gone boolean;
  v_slack boolean;
begin
  select d.* into strict v_delivery from notify.deliveries d where d.id = p_delivery_id;
  -- Locked: a webhook that was set since then, or is being set, is a different one.
  perform from notify.people w
    where w.workspace_id = v_delivery.workspace_id and w.member_id = v_delivery.recipient and w.slack_webhook
      and w.updated_at <= v_delivery.released_at
      for update;
  v_gone := found;
  if v_gone then
    perform notify.forget_slack_webhook(v_delivery.workspace_id, v_delivery.recipient);
  end if;
  if (select k.result from outbox.skip(array[v_delivery.outbox_id], 'notify', 'It is sent another way.') k) = 'skipped' then
    v_slack := 'slack' = any (notify.channels_for(v_delivery.workspace_id, 'member', v_delivery.recipient, '{direct}'));
    update notify.parts p
       set state = 'held', delivery_id = null, due_at = clock_timestamp(),
           channel = case when not v_slack and not exists (select from notify.parts o
                                                            where o.notification_id = p.notification_id and o.channel = 'email')
                          then 'email' else p.channel end
     where p.delivery_id = p_delivery_id and p.state = 'carried';
  end if;
  if v_gone then
    v_text := notify.told_text(v_delivery.workspace_id, 'webhook_gone', null);
    perform notify.tell(
      notify.recipient(v_delivery.workspace_id, 'member', v_delivery.recipient), 'webhook-gone:' || p_delivery_id,
      notify.content('operations', v_text.title, v_text.body, '{in-app}', p_cause => 'webhook-gone'));
  end if;
end
$$;
comment on function notify.webhook_gone(uuid) is 'Sends another way what a webhook that is gone should have carried, and forgets it.';
