-- Which of those whose turn it is are notified by an event that they should decide: all of them at first, the authority after an
-- endorsement; never the actor.
create or replace function capacity.told_asked(p_context capacity.context, p_asked jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_asked = '[]' or p_context.event_type <> 'REQUEST_SUBMITTED'
     and (p_context.event_type <> 'COMMERCIAL_APPROVED' or (p_context.request).commercial_approved_at is not null) then
    return '[]';
  end if;
  return (select coalesce(jsonb_agg(a), '[]') from jsonb_array_elements(p_asked) a
           where a ->> 'id' is distinct from (p_context.standing).member_id
             and (p_context.event_type = 'REQUEST_SUBMITTED' or a ->> 'step' = 'commercial'));
end
$$;
comment on function capacity.told_asked(capacity.context, jsonb) is 'Those whom an event tells that they are asked.';
