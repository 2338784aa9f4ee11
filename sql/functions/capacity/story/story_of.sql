-- What happened, as messages tell it: the renderers are pure functions of this object. It is the story of a moment and contains nothing
-- that changes later: a row keeps it until its message is sent (capacity.kept_story). capacity.story_now() adds the current state.
-- Times are seconds since 1970, so that no renderer depends on the session's time zone or date style.
--
-- p_event is null for a notice, which adds its own part. p_asked: whose turn it is (capacity.asked_people), where a message names them; it
-- addresses ten of them at most (`next`), since a message with more names pings everybody and asks nobody. `people` are all whom it names.
--
-- Nearly all of it is in the context. It says whether the customer was asked while they should be, and when the deadline passed without
-- an answer; what somebody wrote is read where there is any.
create or replace function capacity.story_of(p_context capacity.context, p_event capacity.events, p_asked jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_people jsonb := case when (p_context.standing).member_id is null then '{}'
                         else jsonb_build_object((p_context.standing).member_id, jsonb_build_object(
                                'name', (p_context.standing).name, 'slack', (p_context.standing).slack_user_id)) end;
  v_next jsonb := '[]';
  v_unasked text;
  v_fixers text[];
begin
  if v_request.state <> 'UNDER_REVIEW' then
    -- Otherwise the requester, so that somebody is notified.
    v_next := jsonb_build_array(v_request.requester_user_id);
    v_people := v_people || jsonb_build_object(
      v_request.requester_user_id, jsonb_build_object('name', p_context.requester_name, 'slack', p_context.requester_slack));
    if v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
      v_unasked := capacity.unasked(v_request.id, v_request.state);
      v_fixers := case when v_unasked is not null then capacity.fixers(v_request, v_unasked) end;
      -- Those who can fix it when the customer is not asked, or those who may record the answer.
      v_next := coalesce(nullif(to_jsonb(v_fixers), '[]'), nullif(jsonb_path_query_array(p_asked, '$[0 to 9].id'), '[]'), v_next);
      v_people := v_people || capacity.people_named(v_request.workspace_id, array(select jsonb_array_elements_text(v_next)));
    elsif p_event.event_type = 'CUSTOMER_CONFIRMATION_TIMEOUT' then
      v_unasked := capacity.unasked(v_request.id, p_event.state_before);
    end if;
  elsif p_event.payload ? 'counts' then
    -- Nobody is pinged for an approval that leaves another review open: its reviewers have been asked. After an endorsement reviewers are.
    v_next := jsonb_path_query_array(jsonb_path_query_array(p_asked, '$[*] ? (@.step == "commercial").id'), '$[0 to 9]');
    v_people := v_people || capacity.people_named(v_request.workspace_id, array(select jsonb_array_elements_text(v_next)));
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'id', v_request.id, 'workspace', v_request.workspace_id, 'channel', v_request.slack_channel_id,
    'linear_team', p_context.linear_team_id, 'state', v_request.state,
    'what', v_request.quantity || ' × ' || v_request.requested_size || ' in ' || v_request.region,
    'needed_by', to_char(v_request.needed_by_date, 'YYYY-MM-DD'), 'duration_days', v_request.expected_duration_days,
    'monthly_cost', v_request.estimated_monthly_cost_usd, 'offer', v_request.offer,
    'justification', (p_context.personal).justification,
    'deadline', extract(epoch from v_request.next_deadline_at), 'unasked', v_unasked, 'people', v_people, 'next', v_next,
    'asked', p_asked, 'fixers', v_fixers, 'event', p_event.event_type, 'instruction', v_request.id || '#' || p_event.seq,
    'state_before', p_event.state_before, 'at', extract(epoch from p_event.created_at), 'actor_type', p_event.actor_type,
    'actor', p_event.actor_id, 'counts', p_event.payload -> 'counts', 'on_behalf', p_event.payload -> 'on_behalf_of',
    'words', p_event.payload -> 'reason_hash',
    'reason', capacity.free_text(v_request.id, decode(p_event.payload ->> 'reason_hash', 'hex'))));
end
$$;
comment on function capacity.story_of(capacity.context, capacity.events, jsonb) is 'The story behind messages about a moment.';
