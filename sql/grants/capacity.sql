-- Grants of the schema `capacity`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('capacity');

-- Members and machines read through the views of public, which run with the caller's rights. So they get the tables and what the views and
-- policies call, but never the schema, so that nothing in it can be named. Which rows: sql/policies/capacity.sql.
grant select on
  capacity.requests, capacity.events, capacity.personal_data, capacity.free_texts, capacity.request_captures,
  capacity.request_customers, capacity.waits, capacity.parties
to authenticated, service_role;
grant execute on function
  capacity.last_notified_at(text),
  capacity.unasked(text, public.capacity_request_state)
to authenticated, service_role, headroom_control, headroom_auditor;

-- The executor runs the timers, and makes a confirmation link at the moment of sending it.
grant usage on schema capacity to headroom_executor;
grant execute on function
  capacity.confirmation_token(uuid),
  capacity.run_timers(integer, text),
  capacity.note_timers_failed(text, text)
to headroom_executor;
grant execute on function
  capacity.timers_last_ran()
to headroom_executor, headroom_control, headroom_auditor;

-- Control manages the policies and the connected systems. Both control and auditors read, list and verify.
grant usage on schema capacity to headroom_control, headroom_auditor;
grant select on all tables in schema capacity to headroom_control, headroom_auditor;
-- Anyone who had the key could find out by guessing which customers have been erased.
revoke select on capacity.customer_keys from headroom_control, headroom_auditor;
grant execute on function
  capacity.put_policy(text, text, jsonb),
  capacity.remove_policy(text, text),
  capacity.put_subscription(text, text, jsonb),
  capacity.remove_subscription(text, text),
  capacity.put_linear_state(text, public.capacity_request_state, text)
to headroom_control;
grant execute on function
  capacity.list_policies(text),
  capacity.list_subscriptions(text),
  capacity.list_linear_states(text),
  capacity.workspace_needs(),
  capacity.unlinked_reviewers(text),
  capacity.list_requests(text, public.capacity_request_state[], text, text, integer, text),
  capacity.list_heads(text, integer, text),
  capacity.verify_extent(text),
  capacity.verify_requests(text, integer, text),
  capacity.verify_deliveries(uuid, integer),
  capacity.verify_routes(text),
  capacity.verify_heads(text[], integer[], text[])
to headroom_control, headroom_auditor;
