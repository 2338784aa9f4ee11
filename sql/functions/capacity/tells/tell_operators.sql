-- Notifies the operators of a workspace of something that concerns no request, by the lines of capacity.tells for a cause: once per p_facts
-- id.
create or replace function capacity.tell_operators(p_workspace_id text, p_cause text, p_facts jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule record;
  v_text record;
  v_slack boolean := (select w.slack_channel_id is not null from directory.workspaces w where w.id = p_workspace_id);
begin
  for v_rule in
    select t.* from capacity.tells t where t.cause = p_cause and t.audience = 'operators'
  loop
    v_text := notify.told_text(p_workspace_id, v_rule.template, capacity.problem_values(p_facts));
    perform notify.tell_members(
      p_workspace_id, capacity.operators_of(p_workspace_id, '{}'), format('%s:%s', p_cause, p_facts ->> 'id'),
      notify.content(v_rule.category, v_text.title, v_text.body,
                     case when v_slack then v_rule.channels else array_replace(v_rule.channels, 'direct', 'email') end,
                     v_rule.priority, p_cause => v_rule.cause));
  end loop;
end
$$;
comment on function capacity.tell_operators(text, text, jsonb) is 'Notifies operators of something that concerns no request.';
