-- Why a request in this state does not take an event. The caller has found that it does not (capacity.next_state).
create or replace function capacity.transition_refusal(
  p_state public.capacity_request_state, p_event_type public.capacity_request_event_type
) returns headroom.refusal
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return row('invalid_transition',
             format('A request in state %s does not take the event %s.',
                    coalesce(p_state::text, 'null'), coalesce(p_event_type::text, 'null')),
             format('state %s, event %s', coalesce(p_state::text, 'null'), coalesce(p_event_type::text, 'null')),
             'Read the request again: somebody may have decided meanwhile. Nothing was changed.')::headroom.refusal;
end
$$;
comment on function capacity.transition_refusal(public.capacity_request_state, public.capacity_request_event_type)
  is 'Why a request does not take an event in its state.';
