-- A receipt of Slack in one form for commands, buttons, forms and events: who, where, and what they did. Pure. Anything that Slack would
-- not send is refused here, before anything is written: afterwards ids have the form of ids, and texts are texts.
--
-- The team is the one where the app is installed; it is missing where it is installed for a whole Enterprise Grid. The user's own
-- team is a different one in channels that organisations share.
create or replace function inbound.slack_parse(p_body text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_form jsonb;
  v_sent jsonb;
  v_found jsonb;
begin
  if p_body ~ '^\s*\{' then
    v_sent := inbound.parse_json(p_body);
    v_found := case v_sent ->> 'type'
      when 'url_verification' then jsonb_build_object('kind', 'url_verification', 'challenge', left(v_sent ->> 'challenge', 500))
      when 'event_callback' then jsonb_build_object('kind', 'event', 'event_id', v_sent ->> 'event_id',
                                                    'what', left(v_sent #>> '{event,type}', 80)) end;
  else
    v_form := inbound.form_decode(p_body);
    if v_form ? 'payload' then
      v_sent := inbound.parse_json(v_form ->> 'payload');
      v_found := inbound.slack_parse_payload(v_sent);
    elsif v_form ? 'command' then
      v_found := jsonb_build_object(
        'kind', 'command', 'what', left(v_form ->> 'command', 80), 'text', left(v_form ->> 'text', 4000), 'user', v_form ->> 'user_id',
        'user_name', v_form ->> 'user_name', 'team', nullif(v_form ->> 'team_id', ''),
        'enterprise', nullif(v_form ->> 'enterprise_id', ''),
        'channel', v_form ->> 'channel_id', 'trigger', nullif(v_form ->> 'trigger_id', ''));
    elsif v_form ->> 'ssl_check' = '1' then
      v_found := '{"kind": "ssl_check"}';
    end if;
  end if;

  v_found := jsonb_strip_nulls(v_found);
  if coalesce(case v_found ->> 'kind'
       when 'ssl_check' then true
       when 'url_verification' then v_found ->> 'challenge' <> ''
       when 'event' then v_found ->> 'event_id' ~ '^[A-Za-z0-9_-]{1,100}$'
       else v_found ->> 'user' ~ '^[UW][A-Z0-9]{2,31}$'
            and coalesce(v_found ->> 'team' ~ '^T[A-Z0-9]{2,31}$', true) and coalesce(v_found ->> 'enterprise' ~ '^E[A-Z0-9]{2,31}$', true)
            and coalesce(v_found ->> 'channel' ~ '^[A-Z0-9]{2,32}$', true)
              and coalesce(v_found ->> 'trigger' ~ '^[\u0021-\u007e]{1,200}$', true)
     end, false) is not true then
    perform headroom.fail('invalid_input', 'Slack does not send this, or Headroom does not understand it.',
      null, 'Point only the slash command, the interactivity and the event URL of the Slack app here. Nothing was written.');
  end if;
  return v_found;
end
$$;
comment on function inbound.slack_parse(text) is 'A receipt of Slack in one form; raises invalid_input for anything else.';
