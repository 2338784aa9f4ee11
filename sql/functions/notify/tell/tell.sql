-- Tells one person one thing, in the caller's transaction: what is rolled back was never said. The insert decides: a second call with the
-- same key for the same person is the same notification, and changes nothing. Keys of ours, which have a cause, can be guessed; a caller
-- from outside has none, and takes none of them away.
--
-- Channels: `in-app` is the row itself; `email` and `slack` are messages, `webhook` is one to each endpoint that takes them; `direct` is
-- whichever reaches the person, Slack before mail. Without any, those of the category. What is due at once goes out with this
-- transaction; the rest is held, and notify.release() sends it, merged with what belongs to it.
create or replace function notify.tell(
  p_workspace_id text,
  p_recipient_kind text,
  p_recipient text,
  p_key text,
  p_category text,
  p_title text,
  p_body text,
  p_action_url text default null,
  p_channels text[] default null,
  p_priority integer default 5,
  p_expires_at timestamptz default null,
  p_about text default null,
  p_cause text default null,
  p_address text default null,
  p_link jsonb default null,
  p_name text default null
) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_expires timestamptz := coalesce(p_expires_at, v_now + interval '30 days');
  v_category record;
  v_channels text[];
  v_told notify.notifications;
  v_parts notify.parts[];
  v_sent record;
begin
  select c.* into strict v_category from notify.categories c where c.category = p_category;
  v_channels := notify.channels_for(p_workspace_id, p_recipient_kind, p_recipient, coalesce(p_channels, v_category.channels));
  insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body,
                                    action_url, link, address, name, channels, priority, critical, created_at, expires_at)
  values (p_workspace_id, p_recipient_kind, p_recipient, p_key, p_category, p_cause, p_about, notify.render_text(p_title, 200),
          notify.render_text(p_body, 20000), p_action_url, p_link, p_address, left(p_name, 300), v_channels, p_priority,
          v_category.critical, v_now, v_expires)
  on conflict (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null)) do nothing
  returning * into v_told;
  if v_told.id is null then
    return (select n.id from notify.notifications n where n.workspace_id = p_workspace_id and n.recipient_kind = p_recipient_kind
               and n.recipient = p_recipient and n.idempotency_key = p_key and (n.cause is null) = (p_cause is null));
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
comment on function notify.tell(text, text, text, text, text, text, text, text, text[], integer, timestamptz, text, text, text, jsonb, text)
  is 'Tells one person one thing, once per key.
Nullable: p_action_url, p_channels, p_expires_at, p_about, p_cause, p_address, p_link, p_name.';
