-- Those who handle failures in a workspace: operators, first those who are not away; where there are none, the admins.
create or replace function capacity.operators_of(p_workspace_id text, p_but text[]) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array(
    select c.member_id from capacity.candidates c
     where c.workspace_id = p_workspace_id and c.kind = 'role' and c.member_id <> all (array_remove(p_but, null))
       and c.party = case when exists (select from capacity.candidates o where o.workspace_id = p_workspace_id
                                          and o.kind = 'role' and o.party = 'operator') then 'operator' else 'admin' end
     order by c.away, c.member_id limit 9);
$$;
comment on function capacity.operators_of(text, text[]) is 'Member ids of those who handle failures in a workspace.';
