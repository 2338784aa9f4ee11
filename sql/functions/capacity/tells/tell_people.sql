-- Makes all notifications that an event or a notice names, in its transaction. People whom the request's thread mentions at the same
-- time get them only in the inbox, and so do those whose group is notified in its channel. Everybody else gets them directly too, by mail
-- if the workspace does not use Slack, with a link to the inbox and to all notifications about this request.
--
-- Returns the number of people: a call whose result is assigned is evaluated in place, and one whose result is dropped runs as a query.
create or replace function capacity.tell_people(p_context capacity.context, p_story jsonb, p_effects text[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_rule capacity.tell;
  v_key text;
  v_step text;
  v_told text[];
  v_count integer := 0;
begin
  foreach v_rule in array p_context.tells loop
    continue when 'tell:' || v_rule.audience <> all (p_effects);
    v_rule.priority := greatest(0, v_rule.priority - p_context.demoted);
    v_key := (p_story ->> 'instruction') || '/' || v_rule.audience;
    if v_rule.audience = 'requester' then
      v_count := v_count + capacity.tell_colleagues(
        p_context, p_story, v_rule, v_key, null, array[v_request.requester_user_id], p_effects);
    elsif v_rule.audience = 'customer' then
      v_count := v_count + capacity.tell_customer(p_context, p_story, v_rule, v_key);
    elsif v_rule.audience = 'group' then
      v_count := v_count + capacity.tell_group(p_context, p_story, v_rule, v_key || ':technical');
    elsif v_rule.audience in ('asked', 'no_longer_asked') and p_context.event_type is not null then
      foreach v_step in array array['commercial', 'technical'] loop
        v_told := capacity.audience(p_context, p_story, v_rule.audience, v_step);
        if v_told <> '{}' then
          v_count := v_count + capacity.tell_colleagues(p_context, p_story, v_rule, v_key || ':' || v_step, v_step, v_told, p_effects);
        end if;
      end loop;
    else
      v_told := capacity.audience(p_context, p_story, v_rule.audience, null);
      v_count := v_count + capacity.tell_colleagues(p_context, p_story, v_rule, v_key, null, v_told, p_effects);
    end if;
  end loop;
  return v_count;
end
$$;
comment on function capacity.tell_people(capacity.context, jsonb, text[]) is 'Makes the notifications that an event or a notice names.';
