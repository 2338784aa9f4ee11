-- The members of an audience to notify for a step, or for none: for an event from the story, for a notice the people it addresses. Every
-- audience that capacity.tells_of_event() and tells_of_notice() named has somebody here too.
create or replace function capacity.audience(p_context capacity.context, p_story jsonb, p_audience text, p_step text) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_actor_id text := coalesce((p_context.standing).member_id, '');
  v_relieved text;
  v_ids text[] := '{}';
begin
  if p_context.event_type is null then
    return capacity.active_of(v_request.workspace_id, array(select jsonb_array_elements_text(p_story -> 'called')), array[v_actor_id]);
  elsif p_audience = 'fixers' then
    return capacity.active_of(v_request.workspace_id, array(select jsonb_array_elements_text(p_story -> 'fixers')));
  elsif p_audience = 'operators' then
    return capacity.operators(v_request, v_actor_id);
  elsif p_audience = 'asked' then
    return array(select a ->> 'id' from jsonb_array_elements(capacity.told_asked(p_context, p_story -> 'asked')) a
                  where a ->> 'step' = p_step order by 1);
  end if;
  foreach v_relieved in array capacity.no_longer_asked(p_context, p_story -> 'asked') loop
    if split_part(v_relieved, ':', 1) = p_step then
      v_ids := v_ids || substr(v_relieved, length(p_step) + 2);
    end if;
  end loop;
  return v_ids;
end
$$;
comment on function capacity.audience(capacity.context, jsonb, text, text) is 'Whom a cause notifies, by audience. Nullable: p_step.';
