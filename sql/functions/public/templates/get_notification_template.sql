-- A template: the workspace's text, our text, and its variables.
create or replace function public.get_notification_template(
  p_name text, p_workspace_id text default null, p_language text default 'en'
) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.require_template(p_name, p_workspace_id, p_language);
begin
  return capacity.show_template(v_found.own, v_found.theirs);
end
$$;
comment on function public.get_notification_template(text, text, text)
  is 'The text of a message, and its variables. Nullable: p_workspace_id.';
