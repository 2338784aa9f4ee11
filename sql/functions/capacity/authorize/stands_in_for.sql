-- Whether a member acts for another on a request: as the delegate of somebody who is away. Nobody acts for the requester:
-- that would be approving one's own request by proxy.
create or replace function capacity.stands_in_for(p_request capacity.requests, p_absent_id text, p_standing directory.standing)
returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(p_absent_id <> p_request.requester_user_id and p_absent_id = any (p_standing.stands_for), false);
end
$$;
comment on function capacity.stands_in_for(capacity.requests, text, directory.standing)
  is 'Whether a member is the delegate of another who is away.';
