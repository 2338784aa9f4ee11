-- Whose commercial approval would count now: the holders of the needed authority, or the owner and whoever stands in for them.
-- The same rules as authorize() has, seen from the other side; a test proves that they agree. Bounded, because the list is
-- shown to people and kept in the request.
create or replace function capacity.commercial_reviewers(p_workspace_id text, p_requester_id text, p_owner_id text, p_authority jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'name', c.display_name) order by c.id), '[]')
      from (select m.id, m.display_name
              from capacity.members m
             where m.workspace_id = p_workspace_id and m.active and m.id <> p_requester_id
               and case p_authority ->> 'kind'
                     when 'role' then p_authority ->> 'role' = any (m.roles)
                     when 'member' then m.id = p_authority ->> 'member'
                     else m.id in (
                       select unnest(array[o.id, case when o.id <> p_requester_id and clock_timestamp() >= o.away_from and clock_timestamp() < o.away_until
                                                      then o.delegate_id end])
                         from capacity.members o
                        where o.workspace_id = p_workspace_id and o.id = p_owner_id and o.active and o.roles && array['commercial', 'vp', 'admin'])
                   end
             order by m.id limit 50) c
  );
end
$$;
comment on function capacity.commercial_reviewers(text, text, text, jsonb) is 'Members whose commercial approval would count now, as {id, name}.';
