-- How a member wants to be notified: the caller, or, for admins, machines and operators, somebody else.
create or replace function public.get_notification_preferences(p_member_id text default null, p_workspace_id text default null)
returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return notify.preferences_of(notify.person_for(p_member_id, p_workspace_id));
end
$$;
comment on function public.get_notification_preferences(text, text)
  is 'How a member wants to be notified; the caller by default. Nullable: p_member_id, p_workspace_id.';
