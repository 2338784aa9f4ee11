-- The verdicts on what a member can do to a request, without its job and its money: events first, then what decides nothing. `p_actions`
-- leaves the others out. Each is what the action itself asks when it is carried out.
create or replace function capacity.verdicts_of(p_request capacity.requests, p_actor capacity.actor, p_actions text[] default null)
returns setof capacity.action_verdict
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_standing directory.standing := directory.standing_of(p_request.workspace_id, p_actor.id);
  v_cancels jsonb := capacity.holders(p_request.workspace_id, '{admin}', p_request.requester_user_id);
  v_asked jsonb;
  v_action record;
  v_verdict capacity.action_verdict;
  v_refusal headroom.refusal;
  v_late headroom.refusal;
begin
  select jsonb_object_agg(s.step, s.people) into v_asked
    from (select a.step, jsonb_path_query_array(jsonb_agg(
                   jsonb_build_object('id', a.member_id, 'name', a.name, 'reason', a.reason, 'stands_for', a.stands_for, 'counts', a.counts)
                   order by not a.asked, a.member_id), '$[0 to 19]') as people
            from capacity.asked_now(p_request) a group by a.step) s;
  for v_action in select e.* from capacity.event_actions() e where p_actions is null or e.action = any (p_actions) loop
    v_verdict := capacity.event_verdict(p_request, p_actor, v_action.event_type,
                                        case when v_action.step is null then v_cancels else coalesce(v_asked -> v_action.step, '[]') end);
    if (v_verdict.refusal).code = 'invalid_transition' then
      v_late := case when v_late.code is null then capacity.too_late(p_request) else v_late end;
      v_verdict.refusal := v_late;
    end if;
    v_verdict.action := v_action.action;
    v_verdict.rule := p_request.review_plan #>> array[v_action.step, 'why'];
    return next v_verdict;
  end loop;
  for v_action in
    select n.action from unnest('{nudge,note,send_link}'::text[]) n(action) where p_actions is null or n.action = any (p_actions)
  loop
    v_refusal := case v_action.action when 'nudge' then capacity.nudge_refusal(p_request, v_standing)
                                      when 'note' then capacity.note_refusal(p_request, p_actor.id)
                                      else capacity.link_refusal(p_request, v_standing, null) end;
    return next row(v_action.action, null, v_refusal.code is null, false, null, null, v_refusal, null,
                    case when v_refusal.code = 'not_allowed' and v_action.action = 'nudge' then v_cancels
                         when v_refusal.code = 'not_allowed' then coalesce(v_asked -> 'confirmation', '[]')
                           || capacity.holders(p_request.workspace_id, '{admin}') end)::capacity.action_verdict;
  end loop;
end
$$;
comment on function capacity.verdicts_of(capacity.requests, capacity.actor, text[])
  is 'What a member can do to a request now, and why not. Nullable: p_actions.';
