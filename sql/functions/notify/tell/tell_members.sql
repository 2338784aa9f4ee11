-- Tells several members the same thing, once each per key. One statement writes all notifications that go only to the inbox, because nearly
-- every step of a request causes such.
create or replace function notify.tell_members(p_workspace_id text, p_member_ids text[], p_key text, p_content notify.content)
returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_expires timestamptz := v_now + interval '30 days';
  v_title text := notify.render_text(p_content.title, 200);
  v_body text := notify.render_text(p_content.body, 20000);
  v_critical boolean := p_content.critical;
  v_member_id text;
begin
  if p_content.channels <> '{in-app}' then
    foreach v_member_id in array p_member_ids loop
      perform notify.tell(notify.recipient(p_workspace_id, 'member', v_member_id), p_key, p_content);
    end loop;
    return cardinality(p_member_ids);
  end if;
  if v_critical is null then
    select c.critical into v_critical from notify.categories c where c.category = p_content.category;
  end if;
  with told as (
    insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body,
                                      action_url, channels, priority, critical, created_at, expires_at)
    select p_workspace_id, 'member', m, p_key, p_content.category, p_content.cause, p_content.about, v_title, v_body,
           p_content.action_url, p_content.channels, p_content.priority, v_critical, v_now, v_expires
      from unnest(p_member_ids) m
    on conflict (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null)) do nothing
    returning id, recipient)
  insert into notify.parts (notification_id, channel, state, reason, workspace_id, recipient_kind, recipient, priority, due_at, expires_at)
  select t.id, 'in-app', case when c.off then 'dropped' else 'shown' end, case when c.off then 'preference' end,
         p_workspace_id, 'member', t.recipient, p_content.priority, v_now, v_expires
    from told t
    left join lateral (
         select true as off from notify.preferences p
          where p.workspace_id = p_workspace_id and p.whose = 'member:' || t.recipient and p.category = p_content.category
            and p.channel = 'in-app' and p.choice = 'off' limit 1) c on not v_critical;
  return cardinality(p_member_ids);
end
$$;
comment on function notify.tell_members(text, text[], text, notify.content) is 'Tells several members the same thing, once per key.';
