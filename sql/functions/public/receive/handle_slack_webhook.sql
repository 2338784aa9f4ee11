-- Receives everything that Slack sends, as the raw body of the request: the signature covers exactly those bytes, and it is the only
-- credential. The result is the answer for Slack.
--
-- The insert into the table of receipts decides who handles a receipt that comes twice, even at the same instant. A refusal by the workflow
-- rolls back what was begun, is answered in Slack's own way and recorded in the receipt. Any other failure rolls back everything, including
-- the receipt, so that Slack's retry is handled. The workspace and the request are read once, and after that insert, which
-- may have waited.
create or replace function public.handle_slack_webhook(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb := headroom.request_headers();
  v_stamp text := v_headers ->> 'x-slack-request-timestamp';
  v_receipt jsonb;
  v_earlier inbound.receipts;
  v_home directory.workspaces;
  v_named text;
  v_reply jsonb;
  v_message text;
  v_detail text;
  v_hint text;
begin
  perform inbound.require_signature('slack', $1);
  v_receipt := inbound.slack_parse($1);
  if v_receipt ->> 'kind' = 'url_verification' then
    return json_build_object('challenge', v_receipt ->> 'challenge');
  elsif v_receipt ->> 'kind' = 'ssl_check' then
    return '{}';
  end if;

  v_receipt := v_receipt || jsonb_build_object('id', inbound.slack_receipt_id(v_receipt, v_headers ->> 'x-slack-signature'));
  insert into inbound.receipts (provider, receipt_id, kind, payload)
  values ('slack', v_receipt ->> 'id', v_receipt ->> 'kind', jsonb_strip_nulls(jsonb_build_object(
            'what', v_receipt ->> 'what', 'user', v_receipt ->> 'user', 'team', v_receipt ->> 'team', 'channel', v_receipt ->> 'channel')))
  on conflict do nothing;
  if not found then
    select d.* into v_earlier from inbound.receipts d where d.provider = 'slack' and d.receipt_id = v_receipt ->> 'id';
    return inbound.slack_repeat(v_receipt, v_earlier);
  end if;

  v_home := inbound.slack_home(v_receipt ->> 'team', v_receipt ->> 'enterprise');
  v_named := inbound.named_request(v_receipt, v_home.id);
  begin
    v_reply := inbound.slack_handle(v_receipt, v_home);
  exception
    when sqlstate 'PT400' or sqlstate 'PT401' or sqlstate 'PT403' or sqlstate 'PT404' or sqlstate 'PT409' or sqlstate 'PT410'
      or sqlstate 'PT422'
      or sqlstate 'PT429' or sqlstate 'PT503' then
      get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
      -- A refusal by the engine is not an answer: nothing is kept, and Slack's retry is handled.
      if split_part(v_detail, ':', 1) in ('unknown_stream', 'unknown_rail', 'try_again') then
        raise;
      end if;
      v_reply := inbound.slack_refused(v_receipt, v_named, v_message, v_detail, nullif(v_hint, ''))
        || coalesce((select jsonb_build_object('workspace', m.workspace_id, 'member', m.id) from directory.members m
                      where m.workspace_id = v_home.id and m.slack_user_id = v_receipt ->> 'user'), '{}');
  end;
  -- Slack waits three seconds for the answer to a form, and proxies may give up sooner. After that nobody can read the error
  -- there, so it is also posted where the form was opened. Whether the answer still arrives cannot be known here; posting it twice
  -- is better than a form that closes as if it had been submitted.
  if v_reply #>> '{answer,response_action}' = 'errors' and extract(epoch from clock_timestamp()) - v_stamp::bigint >= 2 then
    perform inbound.slack_note(inbound.form_channel(v_receipt),
      'Your form was not submitted. ' || (select string_agg(e.value, ' ') from jsonb_each_text(v_reply #> '{answer,errors}') e));
  end if;
  -- From here on a member is known by their id: the Slack user id leaves with the directory's entry when they are removed.
  update inbound.receipts d
     set outcome = v_reply ->> 'outcome', refusal = v_reply ->> 'refusal', workspace_id = v_reply ->> 'workspace',
         member_id = v_reply ->> 'member',
         request_id = v_reply ->> 'request',
         payload = case when v_reply ? 'member' then d.payload - 'user' else d.payload end
           || jsonb_strip_nulls(jsonb_build_object('request', v_named, 'field', v_reply ->> 'field'))
   where d.provider = 'slack' and d.receipt_id = v_receipt ->> 'id';
  return v_reply -> 'answer';
end
$$;
comment on function public.handle_slack_webhook(text) is 'Receives what Slack sends, as the raw body, and returns the answer for Slack.';
