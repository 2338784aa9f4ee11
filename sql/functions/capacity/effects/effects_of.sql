-- Which side effects an event has: the names are written into the event, and each is the idempotency key of one outbox row, or names people
-- who are told (tell:<audience>, I3). So this is decided once, from the request as it stands after the event and from the workspace's
-- settings, and dispatch_side_effects() makes rows of every name without deciding again.
--
-- A surface that was switched on while a request was under way is not used for it: a comment needs the issue that the first
-- event made. One that was switched off is left alone from then on.
--
-- A request that is quiet (capacity.is_quiet) has no thread and no issue before it is confirmed; that event makes both.
--
-- Events go to the endpoints whose topics take them, the workspace's own and the installation's, each named by its id; and to the
-- endpoints of the relays' file that an operator subscribed, which have names of their own kind (`file:`).
create or replace function capacity.effects_of(
  p_request capacity.requests, p_event_type public.capacity_request_event_type, p_state_before public.capacity_request_state,
  p_actor_id text
) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
  v_quiet boolean := coalesce(p_request.review_plan ? 'quiet' and capacity.is_quiet(p_request), false);
  v_begins boolean := case when v_quiet then p_event_type = 'CUSTOMER_CONFIRMED' else p_event_type = 'REQUEST_SUBMITTED' end;
  v_linear boolean;
  v_events text[];
begin
  select w.linear_team_id is not null,
         (select array_agg('event:' || n.name order by n.name)
            from (select 'file:' || s.endpoint from capacity.subscriptions s
                   where s.workspace_id = w.id and s.enabled and (s.event_types is null or p_event_type = any (s.event_types))
                  union all
                  select e.id::text from webhooks.endpoints e
                   where e.enabled and (e.tenant_id is null or e.tenant_id = w.id)
                     and webhooks.topic_matches(e.topics, 'capacity', 'capacity.request.' || lower(p_event_type::text))) n(name))
    into v_linear, v_events
    from directory.workspaces w where w.id = p_request.workspace_id;

  if p_request.slack_channel_id is not null and (v_begins or not v_quiet) then
    v_effects := case when v_begins then '{slack:root}' else '{slack:root-update,slack:reply}' end;
  end if;
  if v_linear then
    if v_begins then
      v_effects := v_effects || 'linear:issue'::text;
    elsif capacity.has_issue(p_request) then
      v_effects := v_effects || '{linear:comment,linear:state}'::text[];
    end if;
  end if;
  v_effects := v_effects
    || capacity.tells_of_event(p_request, p_event_type, p_state_before, p_actor_id, v_quiet and not v_begins);
  return v_effects || v_events;
end
$$;
comment on function capacity.effects_of(
  capacity.requests, public.capacity_request_event_type, public.capacity_request_state, text)
  is 'The names of an event''s side effects, in the order in which they are enqueued.';
