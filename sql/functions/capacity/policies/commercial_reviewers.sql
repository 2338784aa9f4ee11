-- Whose commercial approval would count now: the holders of the needed authority, or the owner; and whoever stands in for a person
-- who is away. For the plan of a request that is not made yet. Bounded, because the list is shown to people and kept in the request.
create or replace function capacity.commercial_reviewers(
  p_workspace_id text, p_requester_id text, p_owner_id text, p_authority jsonb
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := p_authority ->> 'kind';
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', c.member_id, 'name', c.display_name) order by c.member_id), '[]')
      from (select c.member_id, c.display_name
              from capacity.candidates c
             where c.workspace_id = p_workspace_id and c.member_id <> p_requester_id and c.kind = v_kind
               and c.party = case v_kind when 'owner' then p_owner_id else p_authority ->> v_kind end
               and (v_kind = 'role' or c.party <> p_requester_id)
             order by c.member_id limit 50) c
  );
end
$$;
comment on function capacity.commercial_reviewers(text, text, text, jsonb)
  is 'Members whose commercial approval would count now, as {id, name}.';
