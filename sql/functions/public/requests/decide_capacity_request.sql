-- Decides something about a request, as apply_capacity_event() does, and says who decided: the caller, or, for a repeat, who did so
-- earlier, when, and through which entrance; answered_at tells how long ago that was. counts is false for an endorsement, which leaves the
-- decision to a higher authority.
create or replace function public.decide_capacity_request(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor_id text default null,
  p_payload jsonb default '{}',
  p_expected_version integer default null
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_answer record := capacity.decide_as_caller(p_request_id, p_event_type, 'user', p_actor_id, p_payload, p_expected_version);
begin
  return jsonb_build_object(
    'request', to_jsonb(public.request_row(v_answer.context)),
    'repeated', v_answer.repeated, 'counts', v_answer.counts, 'decided_by', v_answer.decided_by, 'decided_at', v_answer.decided_at,
    'decided_via', v_answer.decided_via,
    'answered_at', clock_timestamp());
end
$$;
comment on function public.decide_capacity_request(text, public.capacity_request_event_type, text, jsonb, integer)
  is 'Records a decision on a capacity request and says who decided it, and when.';
