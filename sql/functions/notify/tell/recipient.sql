-- A recipient, by named parameters. The address and the name of a member are read when the notification is sent.
create or replace function notify.recipient(
  p_workspace_id text, p_kind text, p_id text, p_address text default null, p_name text default null
) returns notify.recipient
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return row(p_workspace_id, p_kind, p_id, p_address, p_name)::notify.recipient;
end
$$;
comment on function notify.recipient(text, text, text, text, text) is 'A recipient. Nullable: p_address, p_name.';
