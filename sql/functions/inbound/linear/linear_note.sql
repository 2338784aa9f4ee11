-- What a change in Linear says about a request, in words; null if it does not matter. Pure. A person's words follow the colon.
create or replace function inbound.linear_note(p_sent jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_who text := coalesce(nullif(btrim(regexp_replace(notify.render_text(
    coalesce(p_sent #>> '{actor,name}', p_sent #>> '{data,user,name}'), 100), '\s+', ' ', 'g')), ''), 'Somebody');
  v_state text := notify.render_text(p_sent #>> '{data,state,name}', 100);
begin
  return case concat_ws('.', p_sent ->> 'type', p_sent ->> 'action')
    when 'Comment.create' then v_who || ' commented in Linear: '
      || nullif(btrim(notify.render_text(p_sent #>> '{data,body}', 3500), E' \n\t'), '')
    when 'Issue.update' then case when p_sent -> 'updatedFrom' ? 'stateId' then
      format('%s moved the issue in Linear to “%s”. The request itself is unchanged.', v_who, coalesce(v_state, 'another state')) end
    when 'Issue.remove' then v_who || ' removed the issue in Linear. The request itself is unchanged.' end;
end
$$;
comment on function inbound.linear_note(jsonb) is 'A change in Linear as a note. Nullable: result.';
