-- Applies an object of Stripe's, whether an event, an answer or a comparison brought it. Everything comes through here, and money of the
-- test mode is refused here. p_at: when Stripe said it. p_event_type is null if we asked.
create or replace function billing.apply_stripe_object(p_object jsonb, p_event_id text, p_at timestamptz, p_event_type text default null)
returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_object jsonb := billing.plain_object(p_object);
  v_answer jsonb;
begin
  if p_object ->> 'object' = 'event' then
    -- An event that a comparison found says what it would have said on arrival. It never arrived, so it is named found:….
    return billing.apply_stripe_object(v_object, coalesce('found:' || billing.id_in(p_object -> 'id'), p_event_id),
                                       coalesce(to_timestamp(billing.seconds_in(p_object -> 'created')), p_at), p_object ->> 'type');
  elsif not v_object ? 'id' then
    return '{"outcome": "ignored"}';
  elsif billing.is_play_money(v_object) then
    return billing.refuse_test_money(v_object, p_event_id, p_at);
  end if;
  v_answer := case v_object ->> 'object'
    when 'checkout.session' then billing.apply_session(v_object, p_event_id, p_at, p_event_type)
    when 'payment_intent' then billing.apply_payment_intent(v_object, p_event_id, p_at)
    when 'refund' then billing.apply_refund(v_object, p_event_id, p_at)
    when 'dispute' then billing.apply_dispute(v_object, p_event_id, p_at)
    when 'invoice' then billing.apply_invoice(v_object, p_event_id, p_at, p_event_type)
    when 'subscription' then billing.apply_subscription(v_object, p_event_id, p_at)
    else '{"outcome": "ignored"}' end;
  perform billing.note_charge(v_object);
  return v_answer;
end
$$;
comment on function billing.apply_stripe_object(jsonb, text, timestamptz, text)
  is 'Applies an object of Stripe and returns the outcome. Nullable: p_event_type.';
