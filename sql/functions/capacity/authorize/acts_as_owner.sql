-- Whether a member acts as the commercial owner of a request: either as the owner, while their roles still let them review, or as
-- the owner's delegate while the owner is away.
create or replace function capacity.acts_as_owner(p_request capacity.requests, p_standing directory.standing) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    case when p_request.commercial_owner_user_id = p_standing.member_id then p_standing.roles && array['commercial', 'vp', 'admin']
         else p_request.commercial_owner_user_id <> p_request.requester_user_id
              and p_request.commercial_owner_user_id = any (p_standing.stands_for_owners) end, false);
end
$$;
comment on function capacity.acts_as_owner(capacity.requests, directory.standing)
  is 'Whether a member is the commercial owner or acts for them.';
