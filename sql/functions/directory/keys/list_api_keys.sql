-- The keys that were handed out, newest first.
create or replace function directory.list_api_keys()
returns table (id text, role text, workspace_id text, member_id text, note text, created_at timestamptz, expires_at timestamptz,
               revoked_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select k.id, k.role, k.workspace_id, k.member_id, k.note, k.created_at, k.expires_at, k.revoked_at
    from directory.api_keys k order by k.created_at desc, k.id;
end
$$;
comment on function directory.list_api_keys() is 'Registered keys. Nullable: workspace_id, member_id, note, expires_at, revoked_at.';
