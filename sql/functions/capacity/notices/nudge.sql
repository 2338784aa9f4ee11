-- Asks the people that a request waits for to decide, on behalf of the requester, whom the entrance has verified. Throttled per request,
-- because the tenth nudge of an hour moves nobody; the request's lock reduces two concurrent nudges to one.
create or replace function capacity.nudge(p_request capacity.requests, p_actor capacity.actor) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_every interval;
  v_last timestamptz;
  v_notice capacity.notices;
begin
  if p_actor.id <> p_request.requester_user_id
        and not exists (select from directory.members m
                         where m.workspace_id = p_request.workspace_id and m.id = p_actor.id and 'admin' = any (m.roles)) then
    perform headroom.fail('not_allowed', 'Only the requester or an admin may nudge the reviewers of a request.', p_request.id);
  end if;
  select r.* into v_request from capacity.requests r where r.id = p_request.id for no key update;
  if v_request.state not in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then
    perform headroom.fail('conflict', format('The request is %s: nobody is asked to decide it now.',
                                             capacity.story_state(v_request.state::text)), v_request.id);
  end if;

  select w.nudge_every_minutes * interval '1 minute' into v_every from directory.workspaces w where w.id = v_request.workspace_id;
  select max(n.created_at) into v_last from capacity.notices n where n.request_id = v_request.id and n.kind = 'nudge';
  if v_last + v_every > clock_timestamp() then
    perform headroom.fail('too_soon', 'The reviewers of this request were nudged a short while ago.',
      format('again in %s seconds', ceil(extract(epoch from v_last + v_every - clock_timestamp()))),
      'Give them some time, then try again.');
  end if;
  v_notice := capacity.post_notice(v_request, 'nudge', null, null, p_actor, null);
  return jsonb_build_object(
    'request_id', v_request.id, 'notice_id', v_notice.id, 'next_nudge_at', v_notice.created_at + v_every,
    'effects', to_jsonb(v_notice.effects),
    'asked', (select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'name', m.display_name) order by m.id), '[]')
                from directory.members m
               where m.workspace_id = v_request.workspace_id and m.id = any (capacity.notice_asked(
                     v_request, 'nudge', null, capacity.asked_people(v_request, null)))));
end
$$;
comment on function capacity.nudge(capacity.requests, capacity.actor) is 'Nudges those whose decision a request waits for.';
