-- Records an event: an approval, a rejection, an answer, a cancellation. The reducer does everything; this returns the resulting
-- request. A repeat of a decision is answered too, to those who may read the request; decide_capacity_request() says who decided.
--
-- Plans are generic: every statement underneath finds its rows by key, and planning took a tenth of the time.
create or replace function public.apply_capacity_event(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor_type public.capacity_request_actor_type,
  p_actor_id text,
  p_payload jsonb default '{}',
  p_expected_version integer default null
) returns public.capacity_requests
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_answer record := capacity.decide_as_caller(p_request_id, p_event_type, p_actor_type, p_actor_id, p_payload, p_expected_version);
begin
  return public.request_row(v_answer.context);
end
$$;
comment on function public.apply_capacity_event(
  text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer
) is 'Records an event on a capacity request and returns the request after it.';
