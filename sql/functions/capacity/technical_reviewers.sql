-- Whose technical approval would count now: the active members of the group, without the requester.
create or replace function capacity.technical_reviewers(p_workspace_id text, p_requester_id text, p_group_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'name', c.display_name) order by c.id), '[]')
      from (select m.id, m.display_name
              from capacity.group_members g
              join capacity.members m on m.workspace_id = g.workspace_id and m.id = g.member_id
             where g.workspace_id = p_workspace_id and g.group_id = p_group_id and m.active and m.id <> p_requester_id
             order by m.id limit 50) c
  );
end
$$;
comment on function capacity.technical_reviewers(text, text, text) is 'Members whose technical approval would count now, as {id, name}.';
