-- Those who were told that a review waits for them which an event has now closed, as `step:member`; except the actor, and people who have
-- endorsed or are asked again.
create or replace function capacity.no_longer_asked(p_context capacity.context, p_asked jsonb) returns text[]
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_steps text[] := capacity.closed_steps(p_context.request, p_context.event_type::text);
  v_but jsonb := jsonb_build_array((p_context.standing).member_id, (p_context.request).commercial_endorsed_by);
  v_asked text;
  v_left text[] := '{}';
begin
  if p_asked <> '[]' then
    v_but := v_but || jsonb_path_query_array(capacity.told_asked(p_context, p_asked), '$[*].id');
  end if;
  foreach v_asked in array p_context.told loop
    if split_part(v_asked, ':', 1) = any (v_steps) and not v_but ? substr(v_asked, strpos(v_asked, ':') + 1) then
      v_left := v_left || v_asked;
    end if;
  end loop;
  return v_left;
end
$$;
comment on function capacity.no_longer_asked(capacity.context, jsonb)
  is 'Those whom an event relieves of a review that they were asked for.';
