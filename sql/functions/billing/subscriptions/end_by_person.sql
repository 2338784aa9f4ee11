-- A person ends a monthly charge: an operator or an admin, with a reason. Stripe is asked immediately to charge nothing more; what was paid
-- stays paid, and the capacity keeps running until a person stops it. Calling it twice asks once.
create or replace function billing.end_by_person(p_request_id text, p_actor capacity.actor, p_reason text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := billing.lock_request(p_request_id);
  v_reason text;
  v_subscription billing.subscriptions;
begin
  perform headroom.refuse(billing.operator_refusal(v_request.workspace_id, p_actor.id, 'ends a subscription'));
  v_reason := headroom.reason_in(p_reason);
  select s.* into v_subscription from billing.subscriptions s where s.request_id = p_request_id;
  perform headroom.refuse(billing.end_refusal(v_request, v_subscription, p_actor.id));
  if v_subscription.cancel_asked_at is not null then
    return;
  end if;
  perform capacity.count_act(v_request.id, p_actor);
  perform billing.cancel_subscription(p_request_id);
  perform billing.tell(p_request_id, format('%s ends the subscription: nothing is charged any more. This does not stop the capacity: '
    'an operator decides what happens to it.', provisioning.name_of(v_request.workspace_id, p_actor.id)), p_quoted => v_reason);
end
$$;
comment on function billing.end_by_person(text, capacity.actor, text) is 'Ends a subscription for a person.';
