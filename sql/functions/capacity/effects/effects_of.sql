-- Which side effects an event has. The names are stored in the event; each is the idempotency key of one outbox row, or names people to
-- notify (tell:<audience>, I3). So this is decided once, from the request after the event and from the workspace's
-- settings, and dispatch_side_effects() makes rows of every name without deciding again.
--
-- A surface that was switched on while a request was in progress is not used for it: a comment needs the issue that the first
-- event made. One that was switched off gets nothing more.
--
-- A request that is quiet has no thread and no issue before it is confirmed; that event makes both. Colleagues see nothing of a quiet
-- request: its requester is not known, a rule approved all of it, and nobody has paid or confirmed yet. Without this, requests abandoned
-- at that point would fill a channel that anybody could write into.
--
-- Events go to the endpoints whose topics match (capacity.routes), the workspace's own and the installation's, each named by its
-- id; and to the endpoints of the relays' file that an operator subscribed, whose names have the prefix `file:`.
create or replace function capacity.effects_of(
  p_context capacity.context, p_state_before public.capacity_request_state, p_asked jsonb
) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
  v_quiet boolean := p_context.quiet and p_context.event_type <> 'CUSTOMER_CONFIRMED';
  v_begins boolean := p_context.event_type = case when p_context.quiet then 'CUSTOMER_CONFIRMED' else 'REQUEST_SUBMITTED' end
    ::public.capacity_request_event_type;
  v_name text;
begin
  if not v_quiet then
    if (p_context.request).slack_channel_id is not null then
      v_effects := case when v_begins then '{slack:root}' else '{slack:root-update,slack:reply}' end;
    end if;
    if p_context.linear_team_id is null then
      null;
    elsif v_begins then
      v_effects := v_effects || 'linear:issue'::text;
    elsif p_context.has_issue then
      v_effects := v_effects || '{linear:comment,linear:state}'::text[];
    end if;
  end if;
  v_effects := v_effects || capacity.tells_of_event(p_context, p_state_before, p_asked, v_quiet);
  foreach v_name in array p_context.endpoints loop
    v_effects := v_effects || ('event:' || v_name);
  end loop;
  return v_effects;
end
$$;
comment on function capacity.effects_of(capacity.context, public.capacity_request_state, jsonb)
  is 'The names of an event''s side effects, in the order in which they are enqueued.';
