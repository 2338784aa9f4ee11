-- One notification with its outcome, for operators and auditors.
create or replace function notify.get_notification(p_id uuid) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return notify.show_notification(p_id);
end
$$;
comment on function notify.get_notification(uuid) is 'A notification with its outcome.';
