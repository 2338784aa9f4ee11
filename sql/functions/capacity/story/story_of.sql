-- Everything that the messages about a request may say: the renderers are pure functions of this object. Times
-- are seconds since 1970, so that no renderer depends on the session's time zone or date style.
--
-- Whose turn it is, capacity.asked_now() says. Cut to ten: a message that names more pings everybody and asks nobody. `asked` is those who
-- are told themselves.
--
-- Whether the customer was asked is said while they should be, and when their time is over without an answer.
--
-- p_event is null for a notice, which adds its own part. p_also names people whom the notice speaks of. p_asks: whether any message
-- made of this names those whose turn it is; finding them takes as long as all the rest.
create or replace function capacity.story_of(
  p_request capacity.requests, p_event capacity.events, p_also text[] default '{}', p_asks boolean default true
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan jsonb := p_request.review_plan;
  v_asked_commercial jsonb := '[]';
  v_asked_technical jsonb := '[]';
  v_asked_confirmation jsonb := '[]';
  v_asked jsonb := '[]';
  v_unasked text;
  v_fixers text[] := '{}';
  v_facts jsonb;
begin
  if p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    v_unasked := capacity.unasked(p_request.id, p_request.state);
    v_fixers := case when v_unasked is not null then capacity.fixers(p_request, v_unasked) else '{}' end;
  elsif p_event.event_type = 'CUSTOMER_CONFIRMATION_TIMEOUT' then
    v_unasked := capacity.unasked(p_request.id, p_event.state_before);
  end if;
  if p_asks and p_request.state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then
    select coalesce(jsonb_agg(a.member_id) filter (where a.step = 'commercial' and a.place <= 10), '[]'),
           coalesce(jsonb_agg(a.member_id) filter (where a.step = 'technical' and a.place <= 10), '[]'),
           coalesce(jsonb_agg(a.member_id) filter (where a.step = 'confirmation' and a.place <= 10), '[]'),
           coalesce(jsonb_agg(jsonb_build_object('id', a.member_id, 'step', a.step)), '[]')
      into v_asked_commercial, v_asked_technical, v_asked_confirmation, v_asked
      from (select n.step, n.member_id, row_number() over (partition by n.step order by n.member_id) as place
              from capacity.asked_now(p_request) n where n.asked) a
     where a.place <= 50;
  end if;
  select jsonb_build_object(
           'people', (
             select jsonb_object_agg(m.id, jsonb_build_object('name', m.display_name, 'slack', m.slack_user_id))
               from directory.members m
              where m.workspace_id = p_request.workspace_id and m.id = any (
                p_also || v_fixers || array[p_request.requester_user_id, p_request.commercial_owner_user_id,
                                            p_request.commercial_endorsed_by,
                                p_request.commercial_approved_by, p_request.technical_approved_by, p_event.actor_id]
                || array(select jsonb_array_elements_text(v_asked_commercial || v_asked_technical || v_asked_confirmation)))),
           'customer', (select d.customer_ref ->> 'name' from capacity.personal_data d where d.request_id = p_request.id),
           'id', p_request.id, 'state', p_request.state, 'channel', p_request.slack_channel_id,
           'what', p_request.quantity || ' × ' || p_request.requested_size || ' in ' || p_request.region,
           'needed_by', to_char(p_request.needed_by_date, 'YYYY-MM-DD'), 'duration_days', p_request.expected_duration_days,
           'monthly_cost', p_request.estimated_monthly_cost_usd, 'offer', p_request.offer,
           'replaces', p_request.replaces_request_id,
           'requester', p_request.requester_user_id,
           'deadline', extract(epoch from p_request.next_deadline_at),
           'commercial', jsonb_build_object(
             'by', p_request.commercial_approved_by, 'at', extract(epoch from p_request.commercial_approved_at),
             'endorsed_by', p_request.commercial_endorsed_by, 'auto', v_plan #> '{commercial,auto}',
             'asked', v_asked_commercial),
           'technical', jsonb_build_object(
             'by', p_request.technical_approved_by, 'at', extract(epoch from p_request.technical_approved_at),
             'auto', v_plan #> '{technical,auto}', 'asked', v_asked_technical),
           'confirmation', jsonb_build_object('asked', v_asked_confirmation), 'unasked', v_unasked, 'fixers', to_jsonb(v_fixers),
           'asked', v_asked,
           'workspace', p_request.workspace_id, 'event', p_event.event_type, 'instruction', p_request.id || '#' || p_event.seq,
           'at', extract(epoch from p_event.created_at),
           'actor_type', p_event.actor_type, 'actor', p_event.actor_id, 'counts', p_event.payload -> 'counts',
           'on_behalf', p_event.payload ->> 'on_behalf_of',
           'reason', capacity.free_text(p_event.request_id, decode(p_event.payload ->> 'reason_hash', 'hex')))
    into v_facts;
  if p_request.offer is not null or p_request.state in ('PROVISIONING', 'COMPLETED', 'FAILED', 'CANCELLED') then
    v_facts := v_facts || headroom.run_hooks('capacity.story_told', jsonb_build_object('request_id', p_request.id));
  end if;
  -- Slack and inboxes say no more than that, and they are what nearly every event has.
  if p_event.effects <@ '{slack:root,slack:root-update,slack:reply,tell:requester,tell:asked,tell:no_longer_asked,tell:group}' then
    return v_facts;
  end if;
  return v_facts || (
    select jsonb_build_object(
             'workspace_name', w.name, 'public_url', w.public_url, 'linear_team', w.linear_team_id,
             'linear_state', (select s.linear_state_id from capacity.linear_states s
                               where s.workspace_id = w.id and s.state = p_request.state),
             'email', capacity.email_of_customer(p_request.id), 'version', p_request.version, 'size', p_request.requested_size,
             'quantity', p_request.quantity,
             'region', p_request.region,
             'token_id', (select t.id from capacity.confirmation_tokens t where t.request_id = p_request.id and t.revoked_at is null),
             'new_id', gen_random_uuid(), 'event_id', p_event.id,
             'state_before', p_event.state_before, 'state_after', p_event.state_after)
      from directory.workspaces w
     where w.id = p_request.workspace_id);
end
$$;
comment on function capacity.story_of(capacity.requests, capacity.events, text[], boolean)
  is 'What messages about a request are rendered from.';
