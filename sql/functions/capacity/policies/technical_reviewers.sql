-- Whose technical approval would count now: the active members of the group, without the requester. For the plan of a request that
-- is not made yet.
create or replace function capacity.technical_reviewers(p_workspace_id text, p_requester_id text, p_group_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', c.member_id, 'name', c.display_name) order by c.member_id), '[]')
      from (select c.member_id, c.display_name
              from capacity.candidates c
             where c.workspace_id = p_workspace_id and c.kind = 'group' and c.party = p_group_id and c.member_id <> p_requester_id
             order by c.member_id limit 50) c
  );
end
$$;
comment on function capacity.technical_reviewers(text, text, text) is 'Members whose technical approval would count now, as {id, name}.';
