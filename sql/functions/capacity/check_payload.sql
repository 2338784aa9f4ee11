-- What an event may carry. Reasons are asked for where somebody is told no: without one the requester learns nothing. The
-- reducer writes two fields itself, and nobody else may.
create or replace function capacity.check_payload(p_event_type public.capacity_request_event_type, p_payload jsonb) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason jsonb;
begin
  perform capacity.check_json(p_payload, 'payload', 16384, 'invalid_payload');
  v_reason := nullif(p_payload -> 'reason', 'null');
  if v_reason is null then
    if p_event_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED', 'CANCEL_APPROVED') then
      perform capacity.fail('invalid_payload', 'Say why: a rejection or a cancellation needs a reason.', null, 'Put it into the payload as "reason".');
    end if;
  elsif jsonb_typeof(v_reason) <> 'string' or length(btrim(v_reason #>> '{}', E' \n\t')) not between 1 and 2000 then
    perform capacity.fail('invalid_payload', 'A reason is a text of 1 to 2000 characters.');
  end if;
  if p_payload ?| array['counts', 'confirmation_token_id'] then
    perform capacity.fail('invalid_payload', 'The fields "counts" and "confirmation_token_id" are not for callers to set.');
  end if;
end
$$;
comment on function capacity.check_payload(public.capacity_request_event_type, jsonb) is 'Raises invalid_payload unless the event may carry this.';
