-- Sends a notification again by a channel where it failed, after an address was corrected or a suppression was lifted. If a channel is
-- named, it is sent by that one even if it had arrived there or had not gone by it at first: another way when the first does not work.
-- Parts that are still under way are not doubled. It is treated as new: it expires in a day, if not later. The message that was given up
-- before is no longer a dead letter, unless it carried something else too.
create or replace function notify.resend(p_id uuid, p_channel text, p_actor text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_told notify.notifications;
  v_way record;
  v_sent text[] := '{}';
  v_channel text;
  v_given_up uuid[] := '{}';
begin
  perform headroom.check_actor(p_actor);
  if p_channel not in (select c.channel from notify.channels c where c.leaves) then
    perform headroom.fail('invalid_input', format('Nothing is sent again by "%s".', left(p_channel, 40)),
                          (select string_agg(c.channel, ', ') from notify.channels c where c.leaves),
                          'In-app is the notification itself. Nothing was sent.');
  end if;
  select n.* into v_told from notify.notifications n where n.id = p_id for update;
  -- A release may be sending it at this moment.
  perform from notify.parts p where p.notification_id = p_id order by p.channel for update;
  if v_told.id is not null and v_told.erased_at is not null then
    perform headroom.fail('gone', 'What it said was erased.', null, 'There is nothing to send any more.');
  elsif exists (select from notify.part_stages g
                 where g.notification_id = p_id and (p_channel is null or g.channel = p_channel)
                   and g.stage in ('held', 'waiting', 'uncertain')) then
    perform headroom.fail('conflict', 'It is still under way.', null,
                          'See how far: headroom notifications show ' || p_id || '. Nothing was sent.');
  end if;
  for v_way in
    select distinct w.channel, coalesce(e.endpoint_id, w.endpoint_id) as endpoint_id
      from (select g.channel, g.endpoint_id
              from notify.part_stages g join notify.status_rules() r on r.stage = g.stage
             where g.notification_id = p_id and p_channel is null and g.channel <> 'in-app' and r.status = 'failed'
               and g.stage <> 'preference'
            union select p_channel, '' where p_channel is not null and v_told.id is not null) w
      -- Where no endpoint took notifications then, the endpoints that take them now.
      left join lateral notify.endpoints_for(v_told.workspace_id) e(endpoint_id)
        on w.endpoint_id = '' and exists (select from notify.channels c where c.channel = w.channel and c.to_endpoints
                                             and v_told.recipient_kind = any (c.recipients))
  loop
    v_given_up := v_given_up || array(
      select d.outbox_id from notify.parts p
        join notify.deliveries d on d.id = p.delivery_id
        join outbox.dead_letters x on x.outbox_id = d.outbox_id
       where p.notification_id = p_id and p.channel = v_way.channel and p.endpoint_id = v_way.endpoint_id
         and not exists (select from notify.parts o where o.delivery_id = d.id and o.notification_id <> p_id));
    delete from notify.parts p
     where p.notification_id = p_id and p.channel = v_way.channel and p.endpoint_id = '' and v_way.endpoint_id <> '';
    insert into notify.parts as p (notification_id, channel, state, workspace_id, recipient_kind, recipient, priority, due_at, expires_at,
                                   endpoint_id)
    values (p_id, v_way.channel, 'held', v_told.workspace_id, v_told.recipient_kind, v_told.recipient, v_told.priority, clock_timestamp(),
            greatest(v_told.expires_at, clock_timestamp() + interval '1 day'), v_way.endpoint_id)
    on conflict (notification_id, channel, endpoint_id)
    do update set state = 'held', reason = null, delivery_id = null, merge_key = '', due_at = excluded.due_at,
                  expires_at = excluded.expires_at;
    v_sent := array_remove(v_sent, v_way.channel) || v_way.channel;
  end loop;
  if v_told.id is not null and v_sent = '{}' then
    perform headroom.fail('conflict', 'It failed by no channel.', null,
                          'Name one to send it by again: --channel email. Nothing was sent.');
  end if;
  if v_given_up <> '{}'
     and exists (select from outbox.skip(v_given_up, p_actor, format('Notification %s is sent again.', p_id)) k
                  where k.result <> 'skipped') then
    perform headroom.fail('conflict', 'It is on its way again already.', null,
                          'See how far: headroom notifications show ' || p_id || '. Nothing was sent.');
  end if;
  foreach v_channel in array v_sent loop
    update notify.notifications n
       set channels = case when v_channel = any (n.channels) then n.channels else n.channels || v_channel end,
           expires_at = greatest(n.expires_at, clock_timestamp() + interval '1 day')
     where n.id = p_id
    returning n.* into v_told;
    perform notify.send_message(array[v_told], v_channel);
  end loop;
  return notify.show_notification(p_id);
end
$$;
comment on function notify.resend(uuid, text, text) is 'Sends a notification again where it failed. Nullable: p_channel.';
