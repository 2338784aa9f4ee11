-- The channel of the group that gives the technical review of a request, while one of its members is asked. Null if the request's
-- thread is in that same channel, because the thread notifies them.
create or replace function capacity.group_channel(p_request capacity.requests, p_asked jsonb) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_asked @> '[{"step": "technical"}]' then
    return null;
  end if;
  return (select g.slack_channel_id from directory.groups g
           where g.workspace_id = p_request.workspace_id and g.id = p_request.infra_owner_group
             and g.slack_channel_id is distinct from p_request.slack_channel_id);
end
$$;
comment on function capacity.group_channel(capacity.requests, jsonb)
  is 'The channel that notifies a group about a technical review. Nullable: result.';
