-- The channel in which the group is told that gives the technical review of a request, while somebody of it is asked. Where the request's
-- thread is in that same channel, the thread tells them.
create or replace function capacity.group_channel(p_request capacity.requests) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_channel text := (select g.slack_channel_id from directory.groups g
                      where g.workspace_id = p_request.workspace_id and g.id = p_request.infra_owner_group);
begin
  if v_channel is null or v_channel = p_request.slack_channel_id then
    return null;
  end if;
  return case when exists (select from capacity.asked_now(p_request) a where a.asked and a.step = 'technical') then v_channel end;
end
$$;
comment on function capacity.group_channel(capacity.requests)
  is 'The channel in which a group is told of a technical review. Nullable: result.';
