-- What an endpoint gets of a notification: a CloudEvents 1.0 envelope, the same for every endpoint and try. It names the member, without
-- their address.
create or replace function notify.message_to_endpoint(p_told notify.notifications) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_at text := to_char(p_told.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
begin
  return jsonb_build_object(
    'specversion', '1.0', 'id', p_told.id, 'source', '/headroom/' || p_told.workspace_id, 'type', 'headroom.notification',
    'subject', p_told.recipient, 'time', v_at, 'datacontenttype', 'application/json',
    'data', jsonb_build_object(
      'id', p_told.id, 'workspace_id', p_told.workspace_id, 'member_id', p_told.recipient, 'category', p_told.category,
      'title', p_told.title, 'body', p_told.body, 'action_url', p_told.action_url, 'created_at', v_at));
end
$$;
comment on function notify.message_to_endpoint(notify.notifications) is 'The envelope of a notification for an endpoint.';
