-- The endpoints of a workspace that take its members' notifications, when those go by the channel `webhook`.
create or replace function notify.endpoints_for(p_workspace_id text) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select e.id::text from webhooks.endpoints e
   where e.tenant_id = p_workspace_id and e.enabled and webhooks.topic_matches(e.topics, 'people', 'headroom.notification')
   order by e.id;
$$;
comment on function notify.endpoints_for(text) is 'The endpoints of a workspace that take notifications.';
