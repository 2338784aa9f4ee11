-- Deletes a workspace's text for a message: the next message has our text again. The deleted text cannot be restored. Returns whether there
-- was one.
create or replace function public.reset_notification_template(
  p_name text, p_workspace_id text default null, p_language text default 'en'
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.require_template(p_name, p_workspace_id, p_language);
begin
  delete from notify.templates t
   where t.workspace_id = v_found.workspace_id and t.name = p_name and t.language = p_language;
  return found;
end
$$;
comment on function public.reset_notification_template(text, text, text)
  is 'Restores the default text of a message; whether that changed anything. Nullable: p_workspace_id.';
