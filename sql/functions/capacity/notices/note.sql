-- Adds a note to a request, which decides nothing, for an actor whom the entrance has verified. Everybody who may read the request may add
-- one, in every state. It appears in the request's thread and on its issue, unless it came from there.
--
-- The request is locked first, as in everything that enqueues its messages: lanes always come after the request. A note that held
-- a lane without this lock could deadlock with a decision.
create or replace function capacity.note(p_request capacity.requests, p_actor capacity.actor, p_body text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_body text := btrim(p_body, E' \n\t');
  v_notice capacity.notices;
begin
  if v_body is null or length(v_body) not between 1 and 4000 then
    perform headroom.fail('invalid_input', 'A note has 1 to 4000 characters.');
  elsif v_body ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]' then
    perform headroom.fail('invalid_input', 'A note must not contain control characters.', 'only line feed and tab are allowed');
  end if;
  select r.* into v_request from capacity.requests r where r.id = p_request.id for no key update;
  perform headroom.refuse(capacity.note_refusal(v_request, p_actor.id));
  v_notice := capacity.post_notice(v_request, 'note', null, null, p_actor, v_body);
  return jsonb_build_object('request_id', v_request.id, 'notice_id', v_notice.id, 'created_at', v_notice.created_at,
                            'effects', to_jsonb(v_notice.effects));
end
$$;
comment on function capacity.note(capacity.requests, capacity.actor, text) is 'Adds a note to a request.';
