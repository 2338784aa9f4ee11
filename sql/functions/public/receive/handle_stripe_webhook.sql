-- Receives Stripe's events, as the raw body: an HMAC over the time and the bytes. The insert of the receipt decides about an event
-- that comes twice, and shares a transaction with everything that follows from it: if that fails, nothing is kept and Stripe's retry is
-- handled. An event that contradicts what we know is recorded and answered with its own status (response.status): it moves nothing.
create or replace function public.handle_stripe_webhook(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_event jsonb;
  v_answer jsonb;
begin
  perform inbound.require_signature('stripe', $1);
  v_event := inbound.parse_json($1);
  if (v_event ->> 'id' ~ '^evt_[A-Za-z0-9_]{1,190}$' and length(v_event ->> 'type') between 1 and 100
      and v_event ->> 'created' ~ '^[0-9]{1,11}$' and jsonb_typeof(v_event #> '{data,object}') = 'object') is not true then
    perform headroom.fail('invalid_input', 'This is not an event of Stripe.', 'id, type, created and data.object are needed',
                          'Nothing was written.');
  end if;
  insert into inbound.receipts (provider, receipt_id, kind, payload)
  values ('stripe', v_event ->> 'id', v_event ->> 'type', inbound.stripe_receipt(v_event))
  on conflict do nothing;
  if not found then
    return json_build_object('received', true, 'new', false);
  end if;
  v_answer := billing.receive_event(v_event);
  update inbound.receipts d
     set outcome = case v_answer ->> 'outcome' when 'done' then 'done' when 'finding' then 'refused' else 'ignored' end,
         refusal = v_answer ->> 'finding', request_id = v_answer ->> 'request_id',
         workspace_id = (select r.workspace_id from capacity.requests r where r.id = v_answer ->> 'request_id')
   where d.provider = 'stripe' and d.receipt_id = v_event ->> 'id';
  if v_answer ->> 'outcome' = 'finding' then
    perform set_config('response.status', '422', true);
    return json_build_object('received', true, 'new', true, 'outcome', 'finding', 'status', 422, 'code', v_answer ->> 'finding',
                             'message', v_answer ->> 'said', 'hint', 'The event was recorded. No money was moved.');
  end if;
  return json_build_object('received', true, 'new', true, 'outcome', v_answer ->> 'outcome');
end
$$;
comment on function public.handle_stripe_webhook(text) is 'Receives Stripe''s events, as the raw body, and returns the outcome.';
