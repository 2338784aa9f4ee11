-- One notification with its progress by each of its channels.
create or replace function notify.show_notification(p_id uuid) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_shown jsonb;
begin
  select jsonb_build_object(
           'id', n.id, 'workspace_id', n.workspace_id, 'recipient_kind', n.recipient_kind, 'recipient', n.recipient,
           'idempotency_key', n.idempotency_key, 'category', n.category, 'cause', n.cause, 'about', n.about, 'title', n.title,
           'body', n.body, 'action_url', n.action_url, 'priority', n.priority, 'critical', n.critical, 'status', s.status,
           'created_at', n.created_at, 'expires_at', n.expires_at, 'read_at', n.read_at, 'erased_at', n.erased_at,
           'parts', coalesce((
             select jsonb_agg(jsonb_build_object(
                      'channel', g.channel, 'stage', g.stage, 'status', r.status, 'meaning', r.meaning, 'tries', g.tries, 'at', g.at,
                      'said', g.said, 'due_at', p.due_at, 'delivery_id', g.delivery_id, 'outbox_id', d.outbox_id, 'endpoint', e.name)
                    order by g.channel, e.name)
               from notify.part_stages g
               join notify.parts p on p.notification_id = g.notification_id and p.channel = g.channel and p.endpoint_id = g.endpoint_id
               join notify.status_rules() r on r.stage = g.stage
               left join notify.deliveries d on d.id = g.delivery_id
               left join webhooks.endpoints e on e.id::text = g.endpoint_id
              where g.notification_id = n.id), '[]'))
    into v_shown
    from notify.notifications n join notify.statuses s on s.notification_id = n.id
   where n.id = p_id;
  if v_shown is null then
    perform headroom.fail('not_found', 'There is no such notification.', p_id::text,
                          'List them: headroom notifications list. Old ones are deleted after the time of their category.');
  end if;
  return v_shown;
end
$$;
comment on function notify.show_notification(uuid) is 'A notification with how it went by each channel.';
