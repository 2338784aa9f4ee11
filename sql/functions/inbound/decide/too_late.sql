-- Tells whoever lost a race what became of the request and by whom: "it cannot be done" would leave them guessing.
create or replace function inbound.too_late(p_request capacity.requests) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_event capacity.events;
begin
  select e.* into v_event from capacity.events e where e.request_id = p_request.id order by e.seq desc limit 1;
  perform headroom.fail('conflict', format('%s is %s. %s', p_request.id, capacity.story_state(p_request.state::text),
      capacity.story_sentence(capacity.story_of(p_request, v_event))),
    p_request.state::text, format('That was on %s. Nothing was changed.',
                                  capacity.render_time(to_jsonb(extract(epoch from v_event.created_at)))));
end
$$;
comment on function inbound.too_late(capacity.requests) is 'Raises a conflict that says what happened last to a request, and who did it.';
