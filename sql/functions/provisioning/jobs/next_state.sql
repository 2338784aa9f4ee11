-- The state of a job after an event, or one named refusal; defined for all states and events.
create or replace function provisioning.next_state(p_state text, p_event text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_after text := (select t.state_after from provisioning.transitions() t where t.state_before = p_state and t.event = p_event);
begin
  if v_after is null then
    perform headroom.refuse(provisioning.event_refusal(p_state, p_event));
  end if;
  return v_after;
end
$$;
comment on function provisioning.next_state(text, text) is 'The state of a job after an event, or the error invalid_transition.';
