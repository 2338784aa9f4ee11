-- What an event may carry: a reason, and the fields of its type. Nothing else, because the log is kept forever and shown on every
-- surface, and because the fields that the reducer writes (counts, on_behalf_of, confirmation_token_id) must not come from callers. Only
-- the system names the rule that approved and the payment that confirmed.
--
-- Events that say no need a reason: without one the requester learns nothing.
create or replace function capacity.check_payload(
  p_event_type public.capacity_request_event_type, p_payload jsonb, p_actor_type public.capacity_request_actor_type
) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_takes text[] := array['reason'];
  v_reason jsonb;
begin
  perform headroom.check_json(p_payload, 'payload', 16384, 'invalid_payload');
  v_takes := v_takes || case
    when p_event_type = 'PROVISIONING_COMPLETE' then array['job_id', 'run_id']
    when p_event_type = 'PROVISIONING_FAILED' then array['job_id', 'run_id', 'step', 'error']
    when p_actor_type <> 'system' then null
    when p_event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') then array['rule']
    when p_event_type = 'CUSTOMER_CONFIRMED' then array['payment_id']
  end;
  if p_payload - v_takes <> '{}' then
    perform headroom.fail('invalid_payload', 'The payload has fields that this event does not take.',
      format('%s takes %s; not %s', p_event_type, array_to_string(v_takes, ', '),
             left((select string_agg(k, ', ' order by k) from jsonb_object_keys(p_payload - v_takes) k), 200)),
      'Leave them out. Nothing was changed.');
  end if;

  v_reason := nullif(p_payload -> 'reason', 'null');
  if v_reason is null then
    if p_event_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED', 'CANCEL_APPROVED') then
      perform headroom.fail('invalid_payload', 'A rejection or a cancellation needs a reason.', null,
                            'Put it into the payload as "reason".');
    end if;
  elsif jsonb_typeof(v_reason) <> 'string' or length(btrim(v_reason #>> '{}', E' \n\t')) not between 1 and 2000 then
    perform headroom.fail('invalid_payload', 'A reason is a text of 1 to 2000 characters.');
  end if;
end
$$;
comment on function capacity.check_payload(public.capacity_request_event_type, jsonb, public.capacity_request_actor_type)
  is 'Raises invalid_payload unless the event may carry this.';
