-- Says something about a request without changing it: a warning, a reminder, a nudge, a note, news of the customer's link. It
-- is recorded in its own table, and its side effects are outbox rows and notifications like those of an event, in the same transaction
-- (I3). An address is stored like a note, and shown to those who may read the request, but is in no message.
--
-- A layer above says whom its notice addresses (p_called) and with which words (p_said); the body is quoted as somebody else's words.
create or replace function capacity.post_notice(
  p_request capacity.requests, p_kind text, p_step text, p_member_id text, p_actor capacity.actor, p_body text,
  p_called text[] default null, p_said text default null
) returns capacity.notices
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked jsonb := capacity.asked_people(p_request, null);
  v_called text[] := coalesce(p_called, capacity.notice_asked(p_request, p_kind, p_step, v_asked));
  v_context capacity.context := capacity.context_of(p_request, p_actor, null, p_kind);
  v_account text := capacity.account_of(p_actor);
  v_notice capacity.notices;
  v_story jsonb;
  v_effect text;
  v_told integer;
begin
  v_context.demoted := capacity.levels_behind(p_request.workspace_id, p_actor, v_context.acts, v_context.acts_per_hour);
  if p_kind = 'address' then
    v_context.customer_address := to_jsonb(p_body);
  end if;
  with counted as (
    insert into capacity.acts (workspace_id, account, at)
    select p_request.workspace_id, v_account, v_context.now where v_account is not null)
  insert into capacity.notices (request_id, id, kind, step, member_id, actor_type, actor_id, via, body_hash, effects, said)
  values (p_request.id, capacity.last_notice(p_request.id) + 1, p_kind, p_step, p_member_id, p_actor.type, p_actor.id, p_actor.via,
          case when p_body is not null then capacity.put_free_text(p_request.id, to_jsonb(p_body)) end,
          capacity.notice_effects(v_context, v_called, v_asked), p_said)
  returning * into v_notice;
  if cardinality(v_notice.effects) = 0 then
    return v_notice;
  end if;

  v_story := capacity.story_of(v_context, null, v_asked) || jsonb_strip_nulls(jsonb_build_object(
    'notice', p_kind, 'step', p_step, 'said', p_said, 'next', to_jsonb(v_called[:10]), 'called', to_jsonb(v_called),
    'people', capacity.people_named(p_request.workspace_id, v_called || p_actor.id),
    'words', case when p_kind <> 'address' then encode(v_notice.body_hash, 'hex') end,
    'reason', case when p_kind <> 'address' then p_body end,
    'instruction', p_request.id || '!' || v_notice.id,
    'mailed', 'tell:customer' = any (v_notice.effects), 'actor_type', p_actor.type, 'actor', p_actor.id,
    'at', extract(epoch from v_notice.created_at),
    'step_since', extract(epoch from capacity.timer_since(p_request, p_step)),
    'sla_hours', case when p_kind = 'late' then (
                   select w.review_sla_hours from directory.workspaces w where w.id = p_request.workspace_id) end));
  foreach v_effect in array v_notice.effects loop
    if not starts_with(v_effect, 'tell:') then
      perform capacity.enqueue_effect(v_story, v_effect, 5 - v_context.demoted);
    end if;
  end loop;
  v_told := capacity.tell_people(v_context, v_story, v_notice.effects);
  return v_notice;
end
$$;
comment on function capacity.post_notice(capacity.requests, text, text, text, capacity.actor, text, text[], text)
  is 'Records a notice and enqueues its side effects. Nullable: p_step, p_member_id, p_body, p_called, p_said.';
