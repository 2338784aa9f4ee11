-- The refusal for the loser of a race: what happened to the request instead, who did it, when, and through which entrance. "It cannot be
-- done" would leave them guessing.
create or replace function capacity.too_late(p_request capacity.requests) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_last capacity.events;
begin
  select e.* into strict v_last from capacity.events e where e.request_id = p_request.id and e.seq = p_request.version;
  return row('invalid_transition',
             format('%s is %s. %s', p_request.id, capacity.story_state(p_request.state::text),
                    capacity.story_sentence(capacity.story_now(p_request.id))),
             format('state %s, since event %s', p_request.state, v_last.event_type),
             format('That was %s. Nothing was changed.', capacity.when_and_where(v_last.created_at, v_last.via)))::headroom.refusal;
end
$$;
comment on function capacity.too_late(capacity.requests) is 'The refusal for a decision that comes too late: what happened instead.';
