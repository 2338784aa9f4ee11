-- Members of a workspace with one of these roles, and one member in any case, for "who can instead". Bounded, because it is shown to
-- people.
create or replace function capacity.holders(p_workspace_id text, p_roles text[], p_member_id text default null) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'name', m.display_name, 'reason', m.reason) order by m.place, m.id), '[]')
    from (select r.id, r.display_name, r.id is distinct from p_member_id as place,
                 case when r.id = p_member_id then 'requester'
                      else (select x.role from unnest(p_roles) with ordinality x(role, n) where x.role = any (r.roles) order by x.n limit 1)
                 end as reason
            from directory.members r
           where r.workspace_id = p_workspace_id and r.active and (r.id = p_member_id or r.roles && p_roles)
           order by r.id is distinct from p_member_id, r.id limit 20) m;
$$;
comment on function capacity.holders(text, text[], text)
  is 'Members with one of these roles, and the requester if named. Nullable: p_member_id.';
