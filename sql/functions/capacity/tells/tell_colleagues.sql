-- Notifies members of one audience, for one step, by one line of capacity.tells: only in the inbox if the request's
-- thread or their group's channel notifies them, otherwise directly too.
create or replace function capacity.tell_colleagues(
  p_context capacity.context, p_story jsonb, p_rule capacity.tell, p_key text, p_step text, p_member_ids text[], p_effects text[]
) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_content notify.content := capacity.content_of(p_context, p_rule, capacity.tell_values(p_story, p_rule.template, p_step));
  v_reached text[] := p_member_ids;
  v_others text[] := '{}';
  v_count integer := 0;
begin
  if 'direct' = any (p_rule.channels) then
    v_reached := case when p_effects && '{slack:root,slack:reply}' then capacity.mentioned_of(p_story, p_rule.audience, p_member_ids)
                      else '{}' end;
    if 'tell:group' = any (p_effects) and (p_step = 'technical' or p_context.cause = 'nudge') then
      v_reached := v_reached || capacity.reached_in_channel(p_story, p_step, p_member_ids);
    end if;
    v_reached := array(select distinct m from unnest(v_reached) m order by m);
    v_others := array(select m from unnest(p_member_ids) m where m <> all (v_reached));
  end if;
  if v_reached <> '{}' then
    v_content.channels := '{in-app}';
    v_count := notify.tell_members(v_request.workspace_id, v_reached, p_key, v_content);
  end if;
  if v_others <> '{}' then
    v_content.channels := array_replace(p_rule.channels, 'direct', case when p_context.uses_slack then 'direct' else 'email' end);
    v_content.action_url := rtrim(p_context.public_url, '/') || '/inbox?about=' || v_request.id;
    v_count := v_count + notify.tell_members(v_request.workspace_id, v_others, p_key, v_content);
  end if;
  return v_count;
end
$$;
comment on function capacity.tell_colleagues(capacity.context, jsonb, capacity.tell, text, text, text[], text[])
  is 'Notifies members of one audience, and counts them. Nullable: p_step.';
