-- Sends one person one message about all the reviews that wait for them, and posts one notice for each review that it names, which
-- count the reminders and space them out; p_others is how many more there are. The notification belongs to the first notice, the only one
-- that names it, so that every notification has its notice and every named effect its notification (I3). It appears in their inbox, and
-- goes by Slack where the workspace uses it and it knows the person, else by mail. Where the items name a group, the group is notified in
-- its channel, together with the first of its members who is reminded.
create or replace function capacity.timer_remind(
  p_workspace directory.workspaces, p_member_id text, p_items jsonb, p_others integer
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor capacity.actor := capacity.timer_actor();
  v_instruction text;
  v_rule record;
  v_text record;
  v_group record;
  v_in_channel boolean := p_items #>> '{0,group}' is not null;
  -- Items that the group was not yet reminded of this time.
  v_fresh jsonb := case when p_items #>> '{0,group}' is not null then (
    select jsonb_agg(i order by n) from jsonb_array_elements(p_items) with ordinality x(i, n)
     where not exists (select from capacity.notices o
                        where o.request_id = i ->> 'id' and o.kind = 'reminder' and o.step = 'technical'
                          and o.created_at > now() - p_workspace.remind_every_hours * interval '30 minutes')) end;
begin
  insert into capacity.notices (request_id, id, kind, step, member_id, actor_type, actor_id, via, effects)
  select i ->> 'id', capacity.last_notice(i ->> 'id') + 1, 'reminder', i ->> 'step', p_member_id, v_actor.type, v_actor.id, v_actor.via,
         case when v_fresh is null then '{tell:reminded}'::text[] else '{tell:reminded,tell:group}' end
    from (select p_items -> 0 as i) f
  returning request_id || '!' || id into v_instruction;
  insert into capacity.notices (request_id, id, kind, step, member_id, actor_type, actor_id, via)
  select i ->> 'id', capacity.last_notice(i ->> 'id') + row_number() over (partition by i ->> 'id'), 'reminder', i ->> 'step', p_member_id,
         v_actor.type, v_actor.id, v_actor.via
    from jsonb_array_elements(p_items - 0) i;

  select t.* into strict v_rule from capacity.tells t where t.cause = 'reminder' and t.audience = 'reminded';
  v_text := notify.told_text(p_workspace.id, v_rule.template, capacity.tell_values(
    jsonb_build_object('id', p_items #> '{0,id}', 'items', p_items, 'others', p_others), v_rule.template, null));
  perform notify.tell(notify.recipient(p_workspace.id, 'member', p_member_id), v_instruction || '/reminded', notify.content(
    v_rule.category, v_text.title, v_text.body,
    case when v_in_channel then '{in-app}'::text[] else array['in-app', case when p_workspace.slack_channel_id is not null
                                or jsonb_path_exists(p_items, '$[*].channel ? (@ != null)') then 'direct' else 'email' end] end,
    v_rule.priority, p_items #>> '{0,id}', v_rule.cause));
  for v_group in
    select i ->> 'group' as id, jsonb_agg(i order by n) as items from jsonb_array_elements(v_fresh) with ordinality x(i, n) group by 1
  loop
    select t.* into strict v_rule from capacity.tells t where t.cause = 'reminder' and t.audience = 'group';
    v_text := notify.told_text(p_workspace.id, v_rule.template, capacity.tell_values(
      jsonb_build_object('id', v_group.items #> '{0,id}', 'items', v_group.items), v_rule.template, null));
    perform notify.tell(
      notify.recipient(p_workspace.id, 'group', v_group.id), v_instruction || '/group',
      notify.content(v_rule.category, v_text.title, v_text.body, v_rule.channels, v_rule.priority, p_items #>> '{0,id}', v_rule.cause));
  end loop;
end
$$;
comment on function capacity.timer_remind(directory.workspaces, text, jsonb, integer)
  is 'Sends one person one reminder of one or more reviews.';
