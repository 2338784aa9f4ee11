-- A workspace's settings, or the defaults.
create or replace function billing.settings_of(p_workspace_id text) returns billing.settings
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings billing.settings;
begin
  select s.* into v_settings from billing.settings s where s.workspace_id = p_workspace_id;
  if not found then
    v_settings := jsonb_populate_record(null::billing.settings, jsonb_build_object(
      'workspace_id', p_workspace_id, 'currency', 'USD', 'session_minutes', 1440, 'hold_days', 14, 'grace_days', 7));
  end if;
  return v_settings;
end
$$;
comment on function billing.settings_of(text) is 'How a workspace takes money, defaults included.';
