-- Learns from an object of Stripe, whether an event, an answer, a look or a comparison brought it: the one way in, where money of the test
-- mode is refused. p_at: when Stripe said so. p_event_type is null where we asked.
create or replace function billing.apply_stripe_object(p_object jsonb, p_event_id text, p_at timestamptz, p_event_type text default null)
returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer jsonb;
begin
  if coalesce(p_object ->> 'id' !~ '^[A-Za-z0-9_]{1,200}$', true) then
    return '{"outcome": "ignored"}';
  elsif billing.is_play_money(p_object) then
    return billing.refuse_play_money(p_object, p_event_id, p_at);
  end if;
  v_answer := case p_object ->> 'object'
    -- An event that a comparison found says what it would have said when it came. It did not: that is how it is known.
    when 'event' then billing.apply_stripe_object(p_object #> '{data,object}', 'found:' || (p_object ->> 'id'),
                                    coalesce(billing.time_in(p_object -> 'created'), p_at), p_object ->> 'type')
    when 'checkout.session' then billing.apply_session(p_object, p_event_id, p_at, p_event_type)
    when 'payment_intent' then billing.apply_payment_intent(p_object, p_event_id, p_at)
    when 'refund' then billing.apply_refund(p_object, p_event_id, p_at)
    when 'dispute' then billing.apply_dispute(p_object, p_event_id, p_at)
    when 'invoice' then billing.apply_invoice(p_object, p_event_id, p_at, p_event_type)
    when 'subscription' then billing.apply_subscription(p_object, p_event_id, p_at)
    else '{"outcome": "ignored"}' end;
  perform billing.note_charge(p_object);
  return v_answer;
end
$$;
comment on function billing.apply_stripe_object(jsonb, text, timestamptz, text)
  is 'Learns from an object of Stripe, and says what came of it. Nullable: p_event_type.';
