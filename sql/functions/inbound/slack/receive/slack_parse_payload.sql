-- The part of slack_parse() for JSON inside a form: buttons, forms and shortcuts. Null for other types.
create or replace function inbound.slack_parse_payload(p_sent jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_type text := p_sent ->> 'type';
begin
  return jsonb_build_object(
    'user', p_sent #>> '{user,id}', 'user_name', coalesce(p_sent #>> '{user,name}', p_sent #>> '{user,username}'),
    'user_team', p_sent #>> '{user,team_id}', 'team', p_sent #>> '{team,id}', 'enterprise', p_sent #>> '{enterprise,id}',
    'channel', coalesce(p_sent #>> '{channel,id}', p_sent #>> '{container,channel_id}'), 'trigger', p_sent ->> 'trigger_id')
    || case v_type
      when 'block_actions' then jsonb_build_object(
        'kind', 'action', 'what', left(p_sent #>> '{actions,0,action_id}', 80), 'value', left(p_sent #>> '{actions,0,value}', 100),
        'thread_ts', left(coalesce(p_sent #>> '{message,thread_ts}', p_sent #>> '{container,thread_ts}'), 40))
      when 'view_submission' then jsonb_build_object(
        'kind', 'submission', 'what', left(p_sent #>> '{view,callback_id}', 80), 'values', p_sent #> '{view,state,values}',
        'metadata', left(p_sent #>> '{view,private_metadata}', 3000))
      when 'view_closed' then jsonb_build_object('kind', 'closed', 'what', left(p_sent #>> '{view,callback_id}', 80))
      when 'shortcut' then jsonb_build_object('kind', 'shortcut', 'what', left(p_sent ->> 'callback_id', 80))
    end;
end
$$;
comment on function inbound.slack_parse_payload(jsonb) is 'An interactive payload of Slack in one form. Nullable: result.';
