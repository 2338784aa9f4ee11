-- Makes the outbox row of one side effect: its rail, its lane, and what it must wait for. There is a lane per request and surface, so
-- that a dead Slack root never holds up the issue in Linear.
--
-- Messages to Slack and Linear are rendered when they are sent (outbox.renderers). The root and the issue show the current state: the row
-- names the request. Replies and comments say what happened: the row keeps that moment. A CloudEvent is rendered now, because repeating it
-- under the same id must give the same bytes.
--
-- The root's answer is captured as slack_thread_ts, and every later Slack row binds it: a reply is always threaded, and is not sent
-- without a thread. The same holds for the issue in Linear. Of the unsent updates only the last is sent, and none if the root or the
-- issue itself is still to be sent before it, since that shows the state at the time of sending.
--
-- Row by row, not add_rows(): building and unpacking an array of a few rows took longer than the calls it saves. All lanes
-- belong to a request that the caller has locked, so the order cannot deadlock.
create or replace function capacity.enqueue_effect(p_story jsonb, p_effect text, p_priority integer) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_story ->> 'id';
  v_rail text := split_part(p_effect, ':', 1);
  v_key text := v_id || ':' || v_rail;
  v_payload jsonb := jsonb_build_object('request', v_id);
  v_coalesce_key text;
  v_destination text;
  v_captures jsonb;
  v_binds jsonb;
  v_row record;
begin
  if v_rail = 'slack' then
    v_destination := 'slack:' || (p_story ->> 'channel');
    if p_effect = 'slack:root' then
      v_payload := v_payload || '{"method": "chat.postMessage"}';
      v_binds := '[{"path": [], "renderer": "slack-root"}]';
      v_captures := '{"slack_thread_ts": ["ts"]}';
      v_coalesce_key := 'root';
    elsif p_effect = 'slack:root-update' then
      v_binds := '[{"path": [], "renderer": "slack-root"}, {"path": ["ts"], "capture": "slack_thread_ts", "required": true}]';
      v_coalesce_key := 'root';
    else
      v_payload := capacity.kept_story(p_story);
      v_binds := '[{"path": [], "renderer": "slack-reply"}, {"path": ["thread_ts"], "capture": "slack_thread_ts", "required": true}]';
    end if;
  elsif v_rail = 'linear' then
    v_destination := 'linear';
    if p_effect = 'linear:issue' then
      v_payload := v_payload || jsonb_build_object('new_id', gen_random_uuid(), 'linear_team', p_story -> 'linear_team');
      v_binds := '[{"path": [], "renderer": "linear-issue"}]';
      v_captures := '{"linear_issue_id": ["issue", "id"]}';
      v_coalesce_key := 'state';
    elsif p_effect = 'linear:state' then
      v_binds := '[{"path": [], "renderer": "linear-issue"}, {"path": ["id"], "capture": "linear_issue_id", "required": true}]';
      v_coalesce_key := 'state';
    else
      v_payload := capacity.kept_story(p_story) || jsonb_build_object('new_id', gen_random_uuid());
      v_binds := '[{"path": [], "renderer": "linear-comment"},
                   {"path": ["input", "issueId"], "capture": "linear_issue_id", "required": true}]';
    end if;
  else
    -- event:<id of an endpoint> or event:file:<name of one in the relays' file>
    v_rail := 'webhook';
    v_key := substr(p_effect, 7) || ':' || v_id;
    v_destination := case when starts_with(p_effect, 'event:file:') then substr(p_effect, 7) else 'endpoint:' || substr(p_effect, 7) end;
    v_payload := capacity.render_event(p_story);
  end if;
  v_row := outbox.add_row(
    false, p_story ->> 'workspace', 'capacity', v_key, p_story ->> 'instruction', p_effect, v_rail, v_payload, p_priority,
    p_coalesce_key => v_coalesce_key,
    p_destination => v_destination, p_captures => v_captures, p_binds => v_binds);
  assert v_row.outbox_id is not null, 'the side effect has its row';
end
$$;
comment on function capacity.enqueue_effect(jsonb, text, integer) is 'Enqueues one side effect of an event or a notice.';
