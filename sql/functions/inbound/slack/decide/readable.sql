-- A request of a member's workspace, and the member's standing; a member who may not read it is told that there is no such request. p_seen:
-- they saw its message in a channel, and know that it exists.
create or replace function inbound.readable(
  p_member directory.members, p_request_id text, p_seen boolean default false,
  out request capacity.requests, out standing directory.standing, out reads boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  standing := directory.standing_of(p_member.workspace_id, p_member.id);
  select r.* into request from capacity.requests r where r.id = p_request_id and r.workspace_id = p_member.workspace_id;
  reads := capacity.may_read(request, standing);
  if request.id is null or not p_seen and not reads then
    perform capacity.no_such_request(p_request_id);
  end if;
end
$$;
comment on function inbound.readable(directory.members, text, boolean) is 'A request that a member in Slack may refer to.';
