-- The customer's answer, from the holder of the link. The request's row lock puts two concurrent answers in sequence:
-- a repeat of the same answer gets the recorded decision, the opposite one is refused.
create or replace function public.decide_by_token(p_token text, p_decision text, p_reason text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_event public.capacity_request_event_type := case p_decision when 'confirm' then 'CUSTOMER_CONFIRMED' when 'decline'
                                                       then 'CUSTOMER_DECLINED' end;
  v_reason text := nullif(btrim(p_reason, E' \n\t'), '');
  v_token capacity.confirmation_tokens;
  v_story jsonb;
begin
  if v_event is null then
    perform headroom.fail('invalid_input', 'The decision is either "confirm" or "decline".');
  end if;
  v_token := capacity.find_confirmation(p_token);
  perform from capacity.requests r where r.id = v_token.request_id for update;
  v_story := capacity.confirmation_story(v_token);

  if v_story ->> 'decision' = p_decision then
    return v_story || jsonb_build_object('repeated', true);
  elsif v_story ->> 'decision' is not null then
    perform headroom.fail('already_used', format('This offer was already %s.', case v_story ->> 'decision' when 'confirm' then 'confirmed'
                                                                                    else 'declined' end),
      null, 'Nothing was changed. If that was a mistake, ask whoever sent you the link.');
  elsif v_story ->> 'status' <> 'open' then
    perform headroom.fail('gone', case v_story ->> 'status' when 'expired' then 'The time to answer this offer has passed.'
                                       when 'cancelled' then 'This offer was withdrawn.' else 'This offer can no longer be answered.' end,
      v_story ->> 'status', 'Ask whoever sent you the link for a new offer.');
  end if;

  perform capacity.decide(
    v_token.request_id, v_event, row('customer', 'customer', 'link')::capacity.actor,
    jsonb_strip_nulls(jsonb_build_object('reason', v_reason)));
  update capacity.confirmation_tokens t set used_at = clock_timestamp(), used_for = v_event where t.id = v_token.id;
  return capacity.confirmation_story(v_token) || jsonb_build_object('repeated', false);
end
$$;
comment on function public.decide_by_token(text, text, text) is 'Confirms or declines an offer by its link; single use.';
