-- Everything that Slack sends comes in here, as the raw body of the request: the signature is over exactly those bytes, and it is the
-- one credential. The answer is what Slack is to be answered with.
--
-- The insert into the book of deliveries decides who handles one that comes twice, also at the same instant. A refusal by the
-- workflow undoes what was begun and is answered in Slack's own way, with its line in the book; any other failure undoes all,
-- the line too, so that Slack's next try is handled.
create or replace function public.handle_slack_webhook(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb := inbound.request_headers();
  v_stamp text := v_headers ->> 'x-slack-request-timestamp';
  v_delivery jsonb;
  v_earlier inbound.deliveries;
  v_reply jsonb;
  v_message text;
  v_detail text;
  v_hint text;
begin
  if not inbound.verify_slack_signature($1, v_stamp, v_headers ->> 'x-slack-signature') then
    perform capacity.fail('bad_signature', coalesce(inbound.slack_stamp_problem(v_stamp, v_headers ->> 'x-slack-signature'), 'The signature of the request is wrong.'),
      null, 'Send the body exactly as Slack sent it, with its two signature headers. Nothing was written.');
  end if;
  v_delivery := inbound.slack_parse($1);
  if v_delivery ->> 'kind' = 'url_verification' then
    return json_build_object('challenge', v_delivery ->> 'challenge');
  elsif v_delivery ->> 'kind' = 'ssl_check' then
    return '{}';
  end if;

  v_delivery := v_delivery || jsonb_build_object('id', inbound.slack_delivery_id(v_delivery, v_headers ->> 'x-slack-signature'));
  insert into inbound.deliveries (provider, delivery_id, kind, payload)
  values ('slack', v_delivery ->> 'id', v_delivery ->> 'kind', jsonb_strip_nulls(jsonb_build_object(
            'what', v_delivery ->> 'what', 'user', v_delivery ->> 'user', 'team', v_delivery ->> 'team', 'channel', v_delivery ->> 'channel',
            'request', inbound.slack_named(v_delivery))))
  on conflict do nothing;
  if not found then
    select d.* into v_earlier from inbound.deliveries d where d.provider = 'slack' and d.delivery_id = v_delivery ->> 'id';
    return inbound.slack_repeat(v_delivery, v_earlier);
  end if;

  begin
    v_reply := inbound.slack_handle(v_delivery);
  exception
    when sqlstate 'PT400' or sqlstate 'PT401' or sqlstate 'PT403' or sqlstate 'PT404' or sqlstate 'PT409' or sqlstate 'PT410' or sqlstate 'PT422'
      or sqlstate 'PT429' or sqlstate 'PT503' then
      get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
      v_reply := inbound.slack_refused(v_delivery, v_message, v_detail, nullif(v_hint, ''));
  end;
  -- Slack waits three seconds for the answer to a form, and whoever stands between gives up sooner. From then on nobody may read what is
  -- wrong with it, so it is said where the form was asked for as well. Whether the answer still arrives cannot be known here; said twice
  -- is better than a form that closes as if it had been taken.
  if v_reply #>> '{answer,response_action}' = 'errors' and extract(epoch from clock_timestamp()) - v_stamp::bigint >= 2 then
    perform inbound.slack_note(v_delivery || jsonb_strip_nulls(jsonb_build_object(
                                 'channel', substring(v_delivery ->> 'metadata' from '"channel": ?"([A-Z0-9]{2,32})"'))),
      'Your form was not taken. ' || (select string_agg(e.value, ' ') from jsonb_each_text(v_reply #> '{answer,errors}') e));
  end if;
  update inbound.deliveries d
     set outcome = v_reply ->> 'outcome', refusal = v_reply ->> 'refusal', workspace_id = v_reply ->> 'workspace', member_id = v_reply ->> 'member',
         request_id = v_reply ->> 'request'
   where d.provider = 'slack' and d.delivery_id = v_delivery ->> 'id';
  return v_reply -> 'answer';
end
$$;
comment on function public.handle_slack_webhook(text) is 'Receives what Slack sends, as the raw body, and returns the answer for Slack.';
