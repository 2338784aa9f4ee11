-- The name under which a person's own webhook is sealed.
create or replace function notify.webhook_box(p_workspace_id text, p_member_id text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select format('headroom slack webhook %s/%s', p_workspace_id, p_member_id);
$$;
comment on function notify.webhook_box(text, text) is 'The name under which a person''s own webhook is kept.';
