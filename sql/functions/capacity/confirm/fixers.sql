-- Who can fix it when a customer was not asked: those who may record the answer; and admins where nobody may, or where the workspace
-- lacks a setting. Never the requester.
create or replace function capacity.fixers(p_request capacity.requests, p_unasked text) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_owners text[] := array(select a.member_id from capacity.asked_now(p_request) a where a.asked and a.step = 'confirmation' order by 1
                           limit 10);
begin
  if p_unasked <> 'no_public_url' and v_owners <> '{}' then
    return v_owners;
  end if;
  return v_owners || array(
    select m.id from directory.members m
     where m.workspace_id = p_request.workspace_id and m.active and 'admin' = any (m.roles) and m.id <> p_request.requester_user_id
       and m.id <> all (v_owners)
     order by m.id limit 3);
end
$$;
comment on function capacity.fixers(capacity.requests, text) is 'Member ids of those who can fix it when a customer is not asked.';
