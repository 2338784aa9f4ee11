-- Whether a member stands in for another at a request: as the delegate of somebody who is away. Nobody stands in for whoever asked
-- for the capacity: that would be an approval of one's own request by proxy.
create or replace function capacity.stands_in_for(p_request capacity.requests, p_absent_id text, p_member_id text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_absent_id <> p_request.requester_user_id and exists (
    select from directory.members a
     where a.workspace_id = p_request.workspace_id and a.id = p_absent_id and a.delegate_id = p_member_id and a.active
       and clock_timestamp() >= a.away_from and clock_timestamp() < a.away_until);
end
$$;
comment on function capacity.stands_in_for(capacity.requests, text, text)
  is 'Whether a member is the delegate of another who is away now. Nullable: result.';
