-- Tells one person one thing, in the caller's transaction: a rollback undoes it. The insert decides: a second call with the same key for
-- the same person is the same notification, and changes nothing. Our own keys, which have a cause, can be guessed; callers from outside
-- have no cause, and so cannot take our keys.
--
-- Channels: `in-app` is the row itself; `email` and `slack` are messages, `webhook` is one to each endpoint that takes them; `direct` is
-- the one that reaches the person, Slack before mail. Without any, the category's channels. What is due immediately goes out with this
-- transaction; the rest is held, and notify.release() sends it, merged with what belongs to it.
create or replace function notify.tell(p_to notify.recipient, p_key text, p_content notify.content) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_category record;
  v_channels text[];
  v_told notify.notifications;
  v_parts notify.parts[];
  v_sent record;
begin
  select c.* into strict v_category from notify.categories c where c.category = p_content.category;
  v_channels := notify.channels_for(p_to.workspace_id, p_to.kind, p_to.id, coalesce(p_content.channels, v_category.channels));
  insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body,
                                    action_url, link, address, name, channels, priority, critical, created_at, expires_at)
  values (p_to.workspace_id, p_to.kind, p_to.id, p_key, p_content.category, p_content.cause, p_content.about,
          notify.render_text(p_content.title, 200), notify.render_text(p_content.body, 20000), p_content.action_url, p_content.link,
          p_to.address, left(p_to.name, 300), v_channels, p_content.priority, coalesce(p_content.critical, v_category.critical), v_now,
          coalesce(p_content.expires_at, v_now + interval '30 days'))
  on conflict (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null)) do nothing
  returning * into v_told;
  if v_told.id is null then
    return (select n.id from notify.notifications n where n.workspace_id = p_to.workspace_id and n.recipient_kind = p_to.kind
               and n.recipient = p_to.id and n.idempotency_key = p_key and (n.cause is null) = (p_content.cause is null));
  end if;
  v_parts := notify.parts_for(v_told, v_now);
  for v_at in 1..coalesce(cardinality(v_parts), 0) loop
    continue when v_parts[v_at].state <> 'held' or v_parts[v_at].due_at > v_now;
    v_sent := notify.send(array[v_told], v_parts[v_at].channel, v_parts[v_at].endpoint_id);
    v_parts[v_at].state := case when v_sent.problem is null then 'carried' else 'dropped' end;
    v_parts[v_at].delivery_id := v_sent.delivery_id;
    v_parts[v_at].reason := v_sent.problem;
  end loop;
  insert into notify.parts select * from unnest(v_parts) on conflict do nothing;
  return v_told.id;
end
$$;
comment on function notify.tell(notify.recipient, text, notify.content) is 'Tells one person one thing, once per key.';
