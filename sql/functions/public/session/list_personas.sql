-- The personas of a sandbox: the active members. For the sandbox of our own server alone.
create or replace function public.list_personas() returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform directory.require_purpose('persona');
  return jsonb_build_object(
    'at', extract(epoch from clock_timestamp()),
    'personas', coalesce((
      select jsonb_agg(jsonb_build_object(
               'workspace_id', m.workspace_id, 'member_id', m.id, 'name', m.display_name, 'roles', m.roles,
               'groups', array(select g.group_id from directory.group_members g
                                where g.workspace_id = m.workspace_id and g.member_id = m.id order by g.group_id))
               order by m.workspace_id, m.created_at, m.id)
        from (select * from directory.members x where x.active order by x.workspace_id, x.created_at, x.id limit 100) m), '[]'));
end
$$;
comment on function public.list_personas() is 'Active members as personas, for our own server''s sandbox.';
