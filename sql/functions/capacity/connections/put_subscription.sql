-- Subscribes an endpoint of the relays' file to the events of a workspace, or changes the given fields: a field that p_changes does
-- not name keeps its value, and null event types mean all of them. Events that were recorded before are not sent again.
create or replace function capacity.put_subscription(
  p_workspace_id text, p_endpoint text, p_changes jsonb default '{}'
) returns capacity.subscriptions
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old capacity.subscriptions;
  v_new capacity.subscriptions;
  v_wrong text;
begin
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  elsif p_endpoint is null or p_endpoint !~ '^[a-z0-9][a-z0-9-]{0,62}$' then
    perform headroom.fail('invalid_input', 'The name of an endpoint is 1 to 63 lower-case letters, digits and dashes.',
                          left(p_endpoint, 80));
  end if;
  perform headroom.check_changes(p_changes, '{event_types,enabled}');
  select * into v_old from capacity.subscriptions s where s.workspace_id = p_workspace_id and s.endpoint = p_endpoint for update;
  if not found then
    v_old := jsonb_populate_record(null::capacity.subscriptions, '{"enabled": true}');
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A field of the subscription has a value of the wrong type.', sqlerrm,
      'Nothing was changed. Events are ' || array_to_string(enum_range(null::public.capacity_request_event_type), ', ') || '.');
  end;

  v_wrong := case
    when v_new.enabled is null then 'enabled: true or false'
    when array_ndims(v_new.event_types) > 1 or cardinality(v_new.event_types) not between 1 and 100
      or array_position(v_new.event_types, null) is not null
      then 'event_types: a list of events, or null for all of them'
  end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the subscription is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  insert into capacity.subscriptions as s (workspace_id, endpoint, event_types, enabled)
  values (p_workspace_id, p_endpoint, v_new.event_types, v_new.enabled)
  on conflict (workspace_id, endpoint) do update set event_types = excluded.event_types, enabled = excluded.enabled
  returning s.* into v_new;
  return v_new;
end
$$;
comment on function capacity.put_subscription(text, text, jsonb)
  is 'Subscribes an endpoint of the relays'' file to the events of a workspace or changes its subscription.';
