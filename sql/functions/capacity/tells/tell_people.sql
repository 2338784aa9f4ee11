-- Makes the notifications of an event or a notice, all that it names, in its transaction. Whom the request's thread mentions in the same
-- breath is told in the inbox alone, and so is whose group is told in its channel; everybody else directly too, by mail where the workspace
-- does not use Slack, with a way to the inbox and to all that they were told of this request.
create or replace function capacity.tell_people(p_request capacity.requests, p_story jsonb, p_effects text[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule record;
  v_group record;
  v_text record;
  v_thread boolean := p_effects && '{slack:root,slack:reply}';
  v_key text;
  v_inbox text := rtrim(p_story ->> 'public_url', '/') || '/inbox?about=' || p_request.id;
  v_mentioned text[];
  v_others text[];
  v_in_channel boolean := 'tell:group' = any (p_effects);
begin
  for v_rule in
    select t.* from capacity.tells() t
     where t.cause = coalesce(p_story ->> 'event', p_story ->> 'notice') and 'tell:' || t.audience = any (p_effects)
  loop
    v_key := (p_story ->> 'instruction') || '/' || v_rule.audience;
    if v_rule.audience = 'customer' then
      v_text := capacity.tell_text(p_story, v_rule.template, null);
      perform notify.tell(
        p_request.workspace_id, 'customer', p_request.id, v_key, v_rule.category, v_text.title, v_text.body,
        p_channels => v_rule.channels, p_priority => v_rule.priority, p_about => p_request.id, p_cause => v_rule.cause,
        p_address => p_story ->> 'email', p_name => p_story ->> 'customer', p_link => capacity.tell_link(p_story, v_rule.template),
        -- A link that has run out is not worth sending.
        p_expires_at => case when v_rule.template in ('offer', 'warning', 'payment_failed')
                             then to_timestamp((p_story ->> 'deadline')::double precision) end);
      continue;
    end if;
    if v_rule.audience = 'group' then
      v_text := capacity.tell_text(p_story, v_rule.template, 'technical');
      perform notify.tell(
        p_request.workspace_id, 'group', coalesce(capacity.group_told(p_request), p_request.infra_owner_group), v_key || ':technical',
        v_rule.category, v_text.title, v_text.body, p_channels => v_rule.channels, p_priority => v_rule.priority, p_about => p_request.id,
        p_cause => v_rule.cause);
      continue;
    end if;
    for v_group in select a.* from capacity.audience(p_request, p_story, v_rule.audience) a loop
      v_text := capacity.tell_text(p_story, v_rule.template, v_group.step);
      v_mentioned := v_group.member_ids;
      v_others := '{}';
      if 'direct' = any (v_rule.channels) then
        v_mentioned := case when v_thread then capacity.mentioned_of(p_story, v_rule.audience, v_group.member_ids) else '{}' end;
        if v_in_channel and (v_group.step = 'technical' or v_rule.cause = 'nudge') then
          v_mentioned := v_mentioned || capacity.reached_in_channel(p_story, v_group.step, v_group.member_ids);
        end if;
        v_mentioned := array(select distinct m from unnest(v_mentioned) m order by m);
        v_others := array(select m from unnest(v_group.member_ids) m where m <> all (v_mentioned));
      end if;
      perform notify.tell_members(
        p_request.workspace_id, g.ids, v_key || coalesce(':' || v_group.step, ''), v_rule.category, v_text.title, v_text.body, g.channels,
        v_rule.priority, p_request.id, v_rule.cause, g.url)
         from (values (v_mentioned, '{in-app}'::text[], null),
                      (v_others, array_replace(v_rule.channels, 'direct', capacity.direct_channel(p_request)), v_inbox)
              ) g(ids, channels, url)
        where g.ids <> '{}';
    end loop;
  end loop;
end
$$;
comment on function capacity.tell_people(capacity.requests, jsonb, text[]) is 'Makes the notifications that an event or a notice names.';
