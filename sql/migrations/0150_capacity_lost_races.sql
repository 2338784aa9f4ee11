-- It also answers through which entrance a decision was taken.
drop function if exists capacity.decide_as_caller(
  text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer);
