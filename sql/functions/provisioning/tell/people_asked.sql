-- The people whom a job waits for when it needs a person: active operators, or else the admins; and the requester, who may ask for another
-- attempt too. At most ten.
create or replace function provisioning.people_asked(p_request capacity.requests) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array(
    select distinct m.member_id
      from (select c.member_id from capacity.candidates c
             where c.workspace_id = p_request.workspace_id and c.kind = 'role'
               and c.party = case when exists (select from capacity.candidates o where o.workspace_id = p_request.workspace_id
                                                  and o.kind = 'role' and o.party = 'operator') then 'operator' else 'admin' end
             order by c.away, c.member_id limit 9) m
    union
    select p_request.requester_user_id);
$$;
comment on function provisioning.people_asked(capacity.requests) is 'Member ids of those who can help a job on.';
