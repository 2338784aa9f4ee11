-- Why a job in this state does not take an event, or null if it does.
create or replace function provisioning.event_refusal(p_state text, p_event text) returns headroom.refusal
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from provisioning.transitions() t where t.state_before = p_state and t.event = p_event) then
    return null;
  end if;
  return row('invalid_transition',
             format('A job that is %s does not take %s.', provisioning.state_words(p_state), coalesce(p_event, 'nothing')),
             format('state %s, event %s', coalesce(p_state, 'null'), coalesce(p_event, 'null')),
             'Read the job again: it may have changed. Nothing was changed.')::headroom.refusal;
end
$$;
comment on function provisioning.event_refusal(text, text) is 'Why a job does not take an event. Nullable: result.';
