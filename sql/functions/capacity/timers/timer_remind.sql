-- One message to one person about all the reviews that wait for them, and one notice for each that it names, by which reminders are
-- counted and people left alone for a while; p_others is how many more there are. The message hangs on the first notice, which alone
-- names it, so that every message has its notice and every named effect its message (I3). It goes by Slack where Slack knows the
-- person and is used, else by mail, else nowhere.
create or replace function capacity.timer_remind(
  p_workspace directory.workspaces, p_member_id text, p_items jsonb, p_others integer
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor capacity.actor := capacity.timer_actor();
  v_member directory.members;
  v_effect text;
  v_instruction text;
  v_story jsonb;
begin
  select m.* into v_member from directory.members m where m.workspace_id = p_workspace.id and m.id = p_member_id;
  v_effect := case
    when v_member.slack_user_id is not null and (p_workspace.slack_channel_id is not null
                                                 or jsonb_path_exists(p_items, '$[*].channel ? (@ != null)'))
      then 'slack:dm'
    when v_member.email is not null then 'email:member:' || p_member_id end;

  insert into capacity.notices (request_id, id, kind, step, member_id, actor_type, actor_id, via, effects)
  select i ->> 'id', capacity.last_notice(i ->> 'id') + 1, 'reminder', i ->> 'step', p_member_id, v_actor.type, v_actor.id, v_actor.via,
         array_remove(array[v_effect], null)
    from (select p_items -> 0 as i) f
  returning request_id || '!' || id into v_instruction;
  insert into capacity.notices (request_id, id, kind, step, member_id, actor_type, actor_id, via)
  select i ->> 'id', capacity.last_notice(i ->> 'id') + row_number() over (partition by i ->> 'id'), 'reminder', i ->> 'step', p_member_id,
         v_actor.type, v_actor.id, v_actor.via
    from jsonb_array_elements(p_items - 0) i;
  if v_effect is null then
    return;
  end if;

  v_story := jsonb_build_object(
    'instruction', v_instruction, 'id', p_items #> '{0,id}', 'items', p_items, 'others', p_others, 'member', p_member_id,
    'workspace_name', p_workspace.name,
    'slack', v_member.slack_user_id, 'email', v_member.email,
    'people', jsonb_build_object(p_member_id, jsonb_build_object('name', v_member.display_name)));
  if v_effect = 'slack:dm' then
    perform outbox.add_row(false, p_workspace.id, 'capacity', 'member:' || p_workspace.id || '/' || p_member_id || ':slack', v_instruction,
                           v_effect, 'slack',
                           capacity.render_slack_digest(v_story), p_destination => 'slack:' || v_member.slack_user_id);
  else
    perform outbox.add_row(false, p_workspace.id, 'capacity', 'member:' || p_workspace.id || '/' || p_member_id || ':email', v_instruction,
                           v_effect, 'email',
                           capacity.render_email_digest(v_story), p_destination => 'email:' || p_workspace.id);
  end if;
end
$$;
comment on function capacity.timer_remind(directory.workspaces, text, jsonb, integer)
  is 'Sends one person one reminder of one or more reviews.';
