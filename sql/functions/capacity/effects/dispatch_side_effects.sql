-- Makes one outbox row for each side effect that the event names, and notifies the people whom it names, in the transaction of the event:
-- nothing is sent for an event that is rolled back, and everything for one that is committed. Nothing is sent here; the relay sends, in
-- order per request and surface. Returns the story from which messages of the event are made; null for an event without messages.
--
-- After the first event a thread in Slack gets two rows each time, which enter its lane together: an update of the root, of which only
-- the last unsent one is sent, and a reply, which says what happened. Both are rendered when they are sent, and bind what the
-- root captured. All other rows are rare enough to be enqueued one by one. All lanes belong to a request that the caller has locked, so
-- the order cannot deadlock.
create or replace function capacity.dispatch_side_effects(p_context capacity.context, p_event capacity.events, p_asked jsonb)
returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := cardinality(p_event.effects);
  v_done integer := 0;
  v_story jsonb;
  v_effect text;
  v_terms jsonb;
  v_tells boolean := false;
begin
  if v_count = 0 then
    return null;
  end if;
  v_story := capacity.story_of(p_context, p_event, p_asked);
  if p_event.effects[1] = 'slack:root-update' and p_event.effects[2] = 'slack:reply' then
    v_done := outbox.enqueue_pair(
      p_event.workspace_id, 'capacity', p_event.request_id || ':slack', v_story ->> 'instruction',
      'slack', 'slack:' || (v_story ->> 'channel'),
      'slack:root-update', jsonb_build_object('request', p_event.request_id), 'root',
      '[{"path": [], "renderer": "slack-root"}, {"path": ["ts"], "capture": "slack_thread_ts", "required": true}]',
      'slack:reply', capacity.kept_story(v_story), null,
      '[{"path": [], "renderer": "slack-reply"}, {"path": ["thread_ts"], "capture": "slack_thread_ts", "required": true}]',
      5 - p_context.demoted);
  end if;
  if p_context.endpoints <> '{}' then
    -- Machines get all of the terms: the offer unchanged, with the fields that it leaves open.
    v_terms := jsonb_build_object(
      'event_id', p_event.id, 'state_after', p_event.state_after, 'version', (p_context.request).version,
      'size', (p_context.request).requested_size, 'quantity', (p_context.request).quantity, 'region', (p_context.request).region,
      'replaces', (p_context.request).replaces_request_id, 'offer', (p_context.request).offer);
  end if;
  foreach v_effect in array p_event.effects[v_done + 1:v_count] loop
    if starts_with(v_effect, 'tell:') then
      v_tells := true;
    else
      perform capacity.enqueue_effect(
        case when starts_with(v_effect, 'event:') then v_story || v_terms else v_story end, v_effect, 5 - p_context.demoted);
    end if;
  end loop;
  if v_tells then
    v_done := capacity.tell_people(p_context, v_story, p_event.effects);
  end if;
  return v_story;
end
$$;
comment on function capacity.dispatch_side_effects(capacity.context, capacity.events, jsonb)
  is 'Enqueues the side effects that an event names. Nothing else turns events into outbox rows. Nullable: result.';
