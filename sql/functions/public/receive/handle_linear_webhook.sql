-- Receives Linear's reports about issues, as the raw body: a hexadecimal HMAC over the bytes, and a time inside them that must be
-- within a minute. Changes to issues that are not ours leave nothing behind.
--
-- A receipt is identified by what was signed and not by its header, which anybody could change: the object, which of its fields changed,
-- and when. Not by the content of the fields, which could be guessed and would outlive its erasure.
create or replace function public.handle_linear_webhook(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb := headroom.request_headers();
  v_sent jsonb;
  v_stamp jsonb;
  v_id text;
  v_request_id text;
begin
  perform inbound.require_signature('linear', $1);
  v_sent := inbound.parse_json($1);
  v_stamp := v_sent -> 'webhookTimestamp';
  if jsonb_typeof(v_stamp) is distinct from 'number' or abs(extract(epoch from clock_timestamp()) * 1000 - v_stamp::numeric) > 60000 then
    perform headroom.fail('bad_signature', 'The request was signed too long ago, or by a clock that is wrong.', null,
                          'Linear signs every attempt again. Nothing was written.');
  end if;

  select c.request_id into v_request_id from capacity.request_captures c
   where c.name = 'linear_issue_id'
     and c.value = case v_sent ->> 'type' when 'Issue' then v_sent #>> '{data,id}'
                     when 'Comment' then coalesce(v_sent #>> '{data,issueId}', v_sent #>> '{data,issue,id}') end;
  if v_request_id is null then
    return '{}';
  end if;
  v_id := left(concat_ws(':', v_sent ->> 'type', v_sent ->> 'action', v_sent #>> '{data,id}'), 120) || ':'
    || left(encode(sha256(convert_to(concat_ws(' ', v_sent #>> '{data,updatedAt}', v_sent ->> 'createdAt', (
         select string_agg(k, ' ' order by k)
           from jsonb_object_keys(case jsonb_typeof(v_sent -> 'updatedFrom') when 'object' then v_sent -> 'updatedFrom' end) k)), 'UTF8')),
           'hex'), 32);
  insert into inbound.receipts (provider, receipt_id, kind, request_id, payload)
  values ('linear', v_id, left(concat_ws('.', v_sent ->> 'type', v_sent ->> 'action'), 100), v_request_id,
          jsonb_strip_nulls(jsonb_build_object(
            'id', left(v_sent #>> '{data,id}', 64), 'actor', left(v_sent #>> '{actor,id}', 64),
            'delivery', left(v_headers ->> 'linear-delivery', 64))))
  on conflict do nothing;
  if found then
    update inbound.receipts d
       set outcome = inbound.linear_handle(v_sent, v_request_id),
           workspace_id = (select r.workspace_id from capacity.requests r where r.id = v_request_id)
     where d.provider = 'linear' and d.receipt_id = v_id;
  end if;
  return '{}';
end
$$;
comment on function public.handle_linear_webhook(text)
  is 'Receives Linear''s report about a request''s issue, as the raw body, and makes a note of it.';
