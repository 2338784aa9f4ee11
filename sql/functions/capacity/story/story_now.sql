-- The current story of a request: after its last event, with the reviews, the customer, and what layers above add. Refuses an unknown
-- request, which only a row not made by Headroom could name.
create or replace function capacity.story_now(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_event capacity.events;
  v_context capacity.context;
  v_story jsonb;
begin
  select r.* into v_request from capacity.requests r where r.id = p_request_id;
  if not found then
    perform capacity.no_such_request(p_request_id);
  end if;
  select e.* into v_event from capacity.events e where e.request_id = v_request.id and e.seq = v_request.version;
  v_context := capacity.context_of(v_request, null, null, null);
  v_story := capacity.with_reviews(capacity.story_of(v_context, v_event, capacity.asked_people(v_request)), v_request);
  return v_story || jsonb_build_object(
      'customer', (v_context.personal).customer_ref ->> 'name', 'replaces', v_request.replaces_request_id,
      'people', v_story -> 'people' || capacity.people_named(v_request.workspace_id, array[
        v_request.requester_user_id, v_request.commercial_endorsed_by, v_request.commercial_approved_by, v_request.technical_approved_by,
        v_event.actor_id]))
    || case when v_request.offer is not null or v_request.state in ('PROVISIONING', 'COMPLETED', 'FAILED', 'CANCELLED')
            then headroom.run_hooks('capacity.story_told', jsonb_build_object('request_id', v_request.id)) else '{}' end;
end
$$;
comment on function capacity.story_now(text) is 'The story behind messages about the current state of a request.';
