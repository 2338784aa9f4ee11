-- Whether a member stands for the commercial owner of a request: as the owner, while their roles still say reviewer, or as
-- the owner's delegate while the owner is away. Nobody stands in for an owner who asked for the capacity: that would be an
-- approval of one's own request by proxy.
create or replace function capacity.acts_as_owner(p_request capacity.requests, p_member_id text, p_roles text[]) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_request.commercial_owner_user_id = p_member_id then
    return p_roles && array['commercial', 'vp', 'admin'];
  end if;
  return p_request.commercial_owner_user_id <> p_request.requester_user_id and exists (
    select from capacity.members o
     where o.workspace_id = p_request.workspace_id and o.id = p_request.commercial_owner_user_id and o.delegate_id = p_member_id
       and o.active and o.roles && array['commercial', 'vp', 'admin']
       and clock_timestamp() >= o.away_from and clock_timestamp() < o.away_until);
end
$$;
comment on function capacity.acts_as_owner(capacity.requests, text, text[]) is 'Whether a member is the commercial owner or stands in for them now.';
