-- The state of a job after an event, or one named refusal; defined for all states and events.
create or replace function provisioning.next_state(p_state text, p_event text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_after text := (select t.state_after from provisioning.transitions() t where t.state_before = p_state and t.event = p_event);
begin
  if v_after is null then
    perform headroom.fail('invalid_transition', format('A job that is %s does not take %s.', provisioning.state_words(p_state),
                                                       coalesce(p_event, 'nothing')),
      format('state %s, event %s', coalesce(p_state, 'null'), coalesce(p_event, 'null')),
      'Read the job again: it may have changed. Nothing was changed.');
  end if;
  return v_after;
end
$$;
comment on function provisioning.next_state(text, text) is 'The state of a job after an event, or the error invalid_transition.';
