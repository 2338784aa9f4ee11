-- The members of an audience, by the review that they are asked for, if any: as the story tells it for an event, and whom a notice calls
-- upon. What capacity.tells_of_event() and tells_of_notice() found somebody for, this finds too.
create or replace function capacity.audience(p_request capacity.requests, p_story jsonb, p_audience text)
returns table (step text, member_ids text[])
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_actor text := coalesce(p_story ->> 'actor', '');
  v_event text := p_story ->> 'event';
begin
  if p_audience = 'requester' then
    return query select null::text, array[p_request.requester_user_id];
  elsif v_event is null then
    return query select null::text, capacity.active_of(
      p_request.workspace_id, array(select jsonb_array_elements_text(p_story -> 'mention')), array[v_actor]);
  elsif p_audience = 'fixers' then
    return query select null::text, capacity.active_of(
      p_request.workspace_id, array(select jsonb_array_elements_text(p_story -> 'fixers')));
  elsif p_audience = 'operators' then
    return query select null::text, capacity.operators(p_request, v_actor);
  elsif p_audience = 'asked' then
    return query
    select a ->> 'step', array_agg(a ->> 'id' order by a ->> 'id')
      from jsonb_array_elements(p_story -> 'asked') a
     where a ->> 'id' <> v_actor and (v_event = 'REQUEST_SUBMITTED' or a ->> 'step' = 'commercial')
     group by 1 order by 1;
  else
    return query
    select s.step, array_agg(s.member_id order by s.member_id)
      from capacity.still_asked(
             p_request, capacity.closed_steps(p_request, v_event),
             v_actor || array(select a ->> 'id' from jsonb_array_elements(coalesce(p_story -> 'asked', '[]')) a
                               where a ->> 'step' = 'commercial' and a ->> 'id' <> v_actor)) s
     group by 1 order by 1;
  end if;
end
$$;
comment on function capacity.audience(capacity.requests, jsonb, text) is 'The members whom an effect tells. Nullable: step.';
