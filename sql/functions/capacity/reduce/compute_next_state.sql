-- The state machine, total: any combination either has a next state (capacity.next_state) or is refused by one named error.
create or replace function capacity.compute_next_state(
  p_state public.capacity_request_state,
  p_event_type public.capacity_request_event_type,
  p_commercial_done boolean,
  p_technical_done boolean
) returns public.capacity_request_state
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_next public.capacity_request_state := capacity.next_state(p_state, p_event_type, p_commercial_done, p_technical_done);
begin
  if v_next is null then
    perform headroom.fail('invalid_transition',
      format('A request in state %s does not take the event %s.', coalesce(p_state::text, 'null'), coalesce(p_event_type::text, 'null')),
      format('state %s, event %s', coalesce(p_state::text, 'null'), coalesce(p_event_type::text, 'null')),
      'Read the request again: somebody may have decided meanwhile. Nothing was changed.');
  end if;
  return v_next;
end
$$;
comment on function capacity.compute_next_state(public.capacity_request_state, public.capacity_request_event_type, boolean, boolean)
  is 'The state after an event, or the error invalid_transition.';
