-- The verdict on one action of a request, for one member: capacity_verdicts() returns these.
create type capacity.action_verdict as (
  action text,
  -- What the action is about, where it is not the request: a job or a payment.
  target_id text,
  allowed boolean,
  repeated boolean,
  decided_by text,
  decided_at timestamptz,
  refusal headroom.refusal,
  -- The rule by which it needs somebody in particular, in a sentence.
  rule text,
  -- Who could do it instead, or as well.
  others jsonb
);

-- capacity.fixer_refusal() returns what it raised.
drop function if exists capacity.check_fixer(capacity.requests, capacity.actor);
-- It also answers through which entrance a decision was taken.
drop function if exists capacity.decide_as_caller(
  text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer);
