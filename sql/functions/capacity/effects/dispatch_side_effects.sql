-- Makes one outbox row of each side effect that the event names, and tells the people whom it names, in the transaction of the event: what
-- is rolled back was never said, and what is committed will be. Nothing is sent here; the relay does that, in order, per request and
-- surface. Returns how many there are: a call whose result is assigned is evaluated in place, and one that is dropped is run as a query.
--
-- After the first event a thread in Slack gets two rows each time, which go into its lane together: an update of the root, of which only
-- the last that has not been sent goes out, rendered then, and a reply, which says what happened and is rendered now; both bind what the
-- root captured. Everything else is rare enough to be enqueued one by one. All lanes belong to a request that the caller has locked, so
-- the order cannot deadlock.
create or replace function capacity.dispatch_side_effects(p_request capacity.requests, p_event capacity.events) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := cardinality(p_event.effects);
  v_done integer := 0;
  v_story jsonb;
  v_effect text;
  v_tells boolean := false;
begin
  if v_count = 0 then
    return 0;
  end if;
  -- An approval that leaves another review open pings nobody: its reviewers have been asked.
  v_story := capacity.story_of(p_request, p_event, p_asks => not (
    p_request.state = 'UNDER_REVIEW' and p_event.event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED')
      and not p_event.payload ? 'counts'));
  if p_event.effects[1] = 'slack:root-update' and p_event.effects[2] = 'slack:reply' then
    v_done := outbox.enqueue_pair(
      p_request.workspace_id, 'capacity', p_request.id || ':slack', v_story ->> 'instruction',
      'slack', 'slack:' || p_request.slack_channel_id,
      'slack:root-update', jsonb_build_object('request', p_request.id), 'root',
      '[{"path": [], "renderer": "slack-root"}, {"path": ["ts"], "capture": "slack_thread_ts", "required": true}]',
      'slack:reply', capacity.render_slack_reply(v_story), null,
      '[{"path": ["thread_ts"], "capture": "slack_thread_ts", "required": true}]');
  end if;
  if v_done < v_count then
    foreach v_effect in array p_event.effects[v_done + 1:v_count] loop
      if starts_with(v_effect, 'tell:') then
        v_tells := true;
      else
        perform capacity.enqueue_effect(v_story, v_effect);
      end if;
    end loop;
    if v_tells then
      perform capacity.tell_people(p_request, v_story, p_event.effects);
    end if;
  end if;
  return v_count;
end
$$;
comment on function capacity.dispatch_side_effects(capacity.requests, capacity.events)
  is 'Enqueues the side effects that an event names, and counts them. The only thing that turns events into outbox rows.';
