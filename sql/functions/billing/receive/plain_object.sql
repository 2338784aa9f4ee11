-- The fields that we read of an object of Stripe's, each under one name for every kind of object and every version of the API, and nothing
-- else, because Stripe's objects also name customers. Shapes are checked only here: an invalid id, amount, currency or time is left out,
-- and callers rely on the result. An event is replaced by the object in it.
create or replace function billing.plain_object(p_object jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := p_object ->> 'object';
  v_period_end bigint := coalesce(
    billing.seconds_in(p_object #> '{lines,data,0,period,end}'), billing.seconds_in(p_object -> 'period_end'),
    billing.seconds_in(p_object -> 'current_period_end'), billing.seconds_in(p_object #> '{items,data,0,current_period_end}'));
begin
  if v_kind = 'event' then
    return billing.plain_object(p_object #> '{data,object}');
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'object', left(v_kind, 40),
    'id', billing.id_in(p_object -> 'id'),
    'livemode', case when jsonb_typeof(p_object -> 'livemode') = 'boolean' then p_object -> 'livemode' end,
    'status', left(p_object ->> 'status', 60),
    'payment_status', left(p_object ->> 'payment_status', 40),
    'billing_reason', left(p_object ->> 'billing_reason', 40),
    'failure_reason', left(p_object ->> 'failure_reason', 100),
    'amount', coalesce(billing.amount_in(p_object -> 'amount_total'), billing.amount_in(p_object -> 'amount_paid'),
                       billing.amount_in(p_object -> 'amount')),
    'currency', substring(upper((p_object ->> 'currency') collate "C") from '^[A-Z]{3}$'),
    'charge', coalesce(billing.id_in(p_object -> 'charge'), billing.id_in(p_object -> 'latest_charge')),
    'customer', billing.id_in(p_object -> 'customer'),
    'invoice', billing.id_in(p_object -> case v_kind when 'invoice' then 'id' else 'invoice' end),
    'payment_intent', coalesce(billing.id_in(p_object -> case v_kind when 'payment_intent' then 'id' else 'payment_intent' end),
                               billing.id_in(p_object #> '{payments,data,0,payment,payment_intent}')),
    'subscription', coalesce(billing.id_in(p_object -> case v_kind when 'subscription' then 'id' else 'subscription' end),
                             billing.id_in(p_object #> '{parent,subscription_details,subscription}')),
    'created', billing.seconds_in(p_object -> 'created'),
    'paid_at', coalesce(billing.seconds_in(p_object #> '{status_transitions,paid_at}'), billing.seconds_in(p_object -> 'paid_at')),
    'ended_at', billing.seconds_in(p_object -> 'ended_at'),
    'period_end', v_period_end,
    'cancel_at', coalesce(billing.seconds_in(p_object -> 'cancel_at'),
                          case when p_object -> 'cancel_at_period_end' = 'true' then v_period_end end),
    'metadata', (select jsonb_object_agg(k.key, left(m.value, 100)) from (values
        ('headroom_installation'), ('headroom_request'), ('headroom_checkout'), ('headroom_refund')) k(key),
      coalesce(p_object #>> array['metadata', k.key], p_object #>> array['parent', 'subscription_details', 'metadata', k.key],
               p_object #>> array['subscription_details', 'metadata', k.key]) m(value) where m.value is not null)));
end
$$;
comment on function billing.plain_object(jsonb) is 'What is read of an object of Stripe''s. Nullable: p_object.';
