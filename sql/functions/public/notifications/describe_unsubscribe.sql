-- What the link at the end of a mail would stop. Changes nothing, however often it is called: mail scanners follow links.
create or replace function public.describe_unsubscribe(p_token text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found notify.notifications := notify.find_unsubscribe(p_token);
  v_kinds record := notify.stoppable(v_found);
begin
  return jsonb_build_object(
    'workspace', (select w.name from directory.workspaces w where w.id = v_found.workspace_id),
    'kinds', v_kinds.titles, 'stopped', v_kinds.stopped, 'member', v_found.recipient_kind = 'member');
end
$$;
comment on function public.describe_unsubscribe(text) is 'What the link at the end of a mail would stop.';
