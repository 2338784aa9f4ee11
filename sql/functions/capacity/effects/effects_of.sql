-- Which side effects an event has: the names are written into the event, and each is the idempotency key of one outbox row
-- (I3). So this is decided once, from the request as it stands after the event and from the workspace's settings, and
-- dispatch_side_effects() makes a row of every name without deciding again.
--
-- A surface that was switched on while a request was under way is not used for it: a comment needs the issue that the first
-- event made. One that was switched off is left alone from then on.
--
-- Where the customer should be asked and cannot be by mail, the reply in the thread says so; where there is no thread, those who can fix
-- it get a mail.
--
-- A request that is quiet (capacity.is_quiet) has no thread and no issue before it is confirmed; that event makes both.
--
-- Events go to the endpoints whose topics take them, the workspace's own and the installation's, each named by its id; and to the
-- endpoints of the relays' file that an operator subscribed, which have names of their own kind (`file:`).
create or replace function capacity.effects_of(
  p_request capacity.requests, p_event_type public.capacity_request_event_type, p_state_before public.capacity_request_state
) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
  v_quiet boolean := coalesce(p_request.review_plan ? 'quiet' and capacity.is_quiet(p_request), false);
  v_begins boolean := case when v_quiet then p_event_type = 'CUSTOMER_CONFIRMED' else p_event_type = 'REQUEST_SUBMITTED' end;
  v_linear boolean;
  v_mails boolean;
  v_asks boolean := p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and p_request.state <> p_state_before;
  v_problem text;
  v_events text[];
begin
  select w.linear_team_id is not null, w.public_url is not null,
         (select array_agg('event:' || n.name order by n.name)
            from (select 'file:' || s.endpoint from capacity.subscriptions s
                   where s.workspace_id = w.id and s.enabled and (s.event_types is null or p_event_type = any (s.event_types))
                  union all
                  select e.id::text from webhooks.endpoints e
                   where e.enabled and (e.tenant_id is null or e.tenant_id = w.id)
                     and webhooks.topic_matches(e.topics, 'capacity', 'capacity.request.' || lower(p_event_type::text))) n(name))
    into v_linear, v_mails, v_events
    from directory.workspaces w where w.id = p_request.workspace_id;

  if p_request.slack_channel_id is not null and (v_begins or not v_quiet) then
    v_effects := case when v_begins then '{slack:root}' else '{slack:root-update,slack:reply}' end;
  end if;
  if not v_linear and not v_mails and not v_asks and v_events is null then
    return v_effects;
  end if;
  if v_linear then
    if v_begins then
      v_effects := v_effects || 'linear:issue'::text;
    elsif capacity.has_issue(p_request) then
      v_effects := v_effects || '{linear:comment,linear:state}'::text[];
    end if;
  end if;
  -- The customer hears when an answer is wanted, and, once one was, how it ended.
  if v_asks then
    v_problem := (capacity.customer_reach(p_request.id)).problem;
    if v_problem is null then
      v_effects := v_effects || 'email:confirmation'::text;
    elsif p_request.slack_channel_id is null or v_quiet then
      v_effects := v_effects || capacity.member_mails(p_request.workspace_id, capacity.fixers(p_request, v_problem));
    end if;
  elsif v_mails and p_request.state <> p_state_before and p_request.state <> 'PROVISIONING'
        and p_state_before in ('CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING')
          and capacity.email_of_customer(p_request.id) is not null then
    v_effects := v_effects || 'email:closing'::text;
  end if;
  return v_effects || v_events;
end
$$;
comment on function capacity.effects_of(capacity.requests, public.capacity_request_event_type, public.capacity_request_state)
  is 'The names of an event''s side effects, in the order in which they are enqueued.';
