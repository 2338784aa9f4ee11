-- The story of a request as it stands: after its last event. Refuses an unknown one, which only a row of somebody else's making
-- could name.
create or replace function capacity.story_now(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_event capacity.events;
begin
  select r.* into v_request from capacity.requests r where r.id = p_request_id;
  if not found then
    perform capacity.no_such_request(p_request_id);
  end if;
  select e.* into v_event from capacity.events e where e.request_id = v_request.id and e.seq = v_request.version;
  return capacity.story_of(v_request, v_event);
end
$$;
comment on function capacity.story_now(text) is 'What messages about a request as it stands are rendered from.';
