-- Takes back what a workspace had a message say: the next one has our words again. The text is gone for good. Says whether there was one.
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
  is 'Has a message say what it says by default; whether that changed anything. Nullable: p_workspace_id.';
