-- Sends what one person is told by one channel as one message, or as several if one cannot show all of it, and notes for each notification
-- that it was carried, or why not. To endpoints, it sends one message for each endpoint and notification. Returns the number of messages.
-- The caller holds their parts.
create or replace function notify.send_message(p_told notify.notifications[], p_channel text) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_fit notify.notifications[] := array(select n from unnest(p_told) n where n.expires_at > v_now and n.erased_at is null);
  v_sent record;
  v_part record;
  v_fitting integer;
  v_messages integer := 0;
begin
  if cardinality(v_fit) < cardinality(p_told) then
    -- By ids and not by a join: a plan that was made while the table was small would read all of it for each message.
    update notify.parts p set state = 'dropped', reason = 'expired'
     where p.notification_id = any (array(select n.id from unnest(p_told) n where n.expires_at <= v_now or n.erased_at is not null))
       and p.channel = p_channel and p.state = 'held';
  end if;
  if cardinality(v_fit) = 0 or p_told is null then
    return 0;
  end if;
  if (select c.to_endpoints from notify.channels c where c.channel = p_channel) then
    for v_part in
      -- By parts: a release names a notification once for each endpoint.
      select p.notification_id, p.endpoint_id, n as told from notify.parts p join notify.notifications n on n.id = p.notification_id
       where p.notification_id = any (array(select f.id from unnest(v_fit) f)) and p.channel = p_channel and p.state = 'held'
    loop
      v_sent := notify.send(array[v_part.told], p_channel, v_part.endpoint_id);
      update notify.parts p
         set state = case when v_sent.problem is null then 'carried' else 'dropped' end, reason = v_sent.problem,
             delivery_id = v_sent.delivery_id
       where p.notification_id = v_part.notification_id and p.channel = p_channel and p.endpoint_id = v_part.endpoint_id;
      v_messages := v_messages + (v_sent.problem is null)::integer;
    end loop;
    return v_messages;
  end if;
  while cardinality(v_fit) > 0 loop
    v_fitting := notify.how_many_fit(v_fit, p_channel);
    v_sent := notify.send(v_fit[:v_fitting], p_channel);
    update notify.parts p
       set state = case when v_sent.problem is null then 'carried' else 'dropped' end, reason = v_sent.problem,
           delivery_id = v_sent.delivery_id
     where p.notification_id = any (array(select n.id from unnest(v_fit[:v_fitting]) n)) and p.channel = p_channel;
    v_messages := v_messages + (v_sent.problem is null)::integer;
    v_fit := v_fit[v_fitting + 1:];
  end loop;
  return v_messages;
end
$$;
comment on function notify.send_message(notify.notifications[], text)
  is 'Sends several notifications of one person, and counts the messages. Nullable: p_told.';
