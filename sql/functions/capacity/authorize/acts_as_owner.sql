-- Whether a member stands for the commercial owner of a request: as the owner, while their roles still say reviewer, or as
-- the owner's delegate while the owner is away.
create or replace function capacity.acts_as_owner(p_request capacity.requests, p_member_id text, p_roles text[]) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_request.commercial_owner_user_id = p_member_id then
    return p_roles && array['commercial', 'vp', 'admin'];
  end if;
  return capacity.stands_in_for(p_request, p_request.commercial_owner_user_id, p_member_id) and exists (
    select from directory.members o
     where o.workspace_id = p_request.workspace_id and o.id = p_request.commercial_owner_user_id
       and o.roles && array['commercial', 'vp', 'admin']);
end
$$;
comment on function capacity.acts_as_owner(capacity.requests, text, text[])
  is 'Whether a member is the commercial owner or stands in for them now.';
