-- Says something about a request without deciding anything: everybody who may read it may, in every state. It appears in the
-- request's thread and on its issue, unless it came from there.
create or replace function public.note_capacity_request(p_request_id text, p_body text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_actor capacity.actor;
  v_body text := btrim(p_body, E' \n\t');
  v_notice capacity.notices;
begin
  select r.* into v_request from capacity.requests r where r.id = p_request_id;
  if not found and (capacity.caller()).kind <> 'anon' then
    perform capacity.fail('not_found', 'There is no such request.', left(p_request_id, 80), 'Check the id; it looks like CR-2026-000042.');
  end if;
  v_actor := capacity.acting('user', p_actor_id, v_request.workspace_id);
  if not capacity.may_read(v_request, v_actor.id) then
    perform capacity.fail('not_found', 'There is no such request, or it is not yours to see.', left(p_request_id, 80));
  elsif v_body is null or length(v_body) not between 1 and 4000 then
    perform capacity.fail('invalid_input', 'A note has 1 to 4000 characters.');
  elsif v_body ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]' then
    perform capacity.fail('invalid_input', 'A note contains control characters.', 'only line feed and tab are allowed');
  end if;
  v_notice := capacity.post_notice(v_request, 'note', null, null, v_actor, v_body);
  return jsonb_build_object('request_id', v_request.id, 'notice_id', v_notice.id, 'created_at', v_notice.created_at, 'effects', to_jsonb(v_notice.effects));
end
$$;
comment on function public.note_capacity_request(text, text, text) is 'Adds a note to a request, for those who may read it.';
