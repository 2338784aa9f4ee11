-- One request for somebody who may read it: the same message as in its thread, with the same buttons.
create or replace function inbound.slack_show(p_member directory.members, p_request_id text, p_channel text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := (inbound.readable(p_member, p_request_id)).request;
  v_message jsonb;
begin
  v_message := capacity.render_slack_root(
    capacity.story_now(v_request.id) || jsonb_build_object('channel', coalesce(p_channel, v_request.slack_channel_id, 'none')),
    'chat.postEphemeral');
  return inbound.slack_reply(v_message ->> 'text', 'answered', v_request.id, v_message -> 'blocks');
end
$$;
comment on function inbound.slack_show(directory.members, text, text) is 'The reply that shows one request.';
