-- One request for somebody who may read it: the same message as in its thread, with the same buttons.
create or replace function inbound.slack_show(p_member directory.members, p_request_id text, p_channel text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_event capacity.events;
  v_message jsonb;
begin
  select r.* into v_request from capacity.requests r where r.id = p_request_id and r.workspace_id = p_member.workspace_id;
  if v_request.id is null or not capacity.may_read(v_request, p_member.id) then
    perform capacity.no_such_request(p_request_id);
  end if;
  select e.* into v_event from capacity.events e where e.request_id = v_request.id order by e.seq desc limit 1;
  v_message := capacity.render_slack_root(
    capacity.story_of(v_request, v_event) || jsonb_build_object('channel', coalesce(p_channel, v_request.slack_channel_id, 'none')),
    'chat.postEphemeral');
  return inbound.slack_reply(v_message ->> 'text', 'answered', v_request.id, v_message -> 'blocks');
end
$$;
comment on function inbound.slack_show(directory.members, text, text) is 'The reply that shows one request.';
