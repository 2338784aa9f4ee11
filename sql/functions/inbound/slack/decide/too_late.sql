-- Tells the loser of a race what happened to the request and who did it: "it cannot be done" would leave them guessing.
create or replace function inbound.too_late(p_request capacity.requests) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_story jsonb := capacity.story_now(p_request.id);
begin
  perform headroom.fail('conflict', format('%s is %s. %s', p_request.id, capacity.story_state(p_request.state::text),
      capacity.story_sentence(v_story)),
    p_request.state::text, format('That was on %s. Nothing was changed.',
                                  capacity.render_time(v_story -> 'at')));
end
$$;
comment on function inbound.too_late(capacity.requests) is 'Raises a conflict with the last event of a request, and who caused it.';
