-- The event for other systems: a CloudEvents 1.0 envelope. No personal data: not the customer, not the actor, and no free text,
-- which may contain anything. A receiver that needs more asks for the request by its id.
create or replace function capacity.render_event(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'specversion', '1.0', 'id', p_story -> 'event_id', 'source', '/headroom/' || (p_story ->> 'workspace'),
    'type', 'capacity.request.' || lower((p_story ->> 'event') collate "C"), 'subject', p_story -> 'id',
    'time', capacity.render_time(p_story -> 'at', true),
    'datacontenttype', 'application/json',
    'data', jsonb_build_object(
      'request_id', p_story -> 'id', 'workspace_id', p_story -> 'workspace', 'version', p_story -> 'version',
      'event_type', p_story -> 'event', 'state_before', p_story -> 'state_before', 'state_after', p_story -> 'state_after',
      'actor_type', p_story -> 'actor_type', 'requested_size', p_story -> 'size', 'quantity', p_story -> 'quantity',
      'region', p_story -> 'region',
      'needed_by_date', p_story -> 'needed_by', 'expected_duration_days', p_story -> 'duration_days',
      'estimated_monthly_cost_usd', p_story -> 'monthly_cost', 'offer', p_story -> 'offer',
      'next_deadline_at', capacity.render_time(p_story -> 'deadline', true),
      'replaces_request_id', p_story -> 'replaces'));
end
$$;
comment on function capacity.render_event(jsonb) is 'The CloudEvents envelope of an event.';
