-- Tells a member of a workspace something for a caller from outside. It first checks who calls, what they want told and to whom. They name
-- the member by id or Slack id, or by the uuid of an account (auth.users), which an identity maps to an active member.
create or replace function notify.tell_member(p_workspace_id text, p_user_id text, p_key text, p_content notify.content) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_member_id text;
  v_problem text := notify.told_problem(p_key, p_content);
begin
  perform notify.check_producer();
  if v_problem is not null then
    perform headroom.fail('invalid_input', format('The %s of the notification is not acceptable.', split_part(v_problem, ':', 1)),
                          v_problem, 'Nothing was written.');
  end if;
  select m.id into v_member_id
    from directory.members m
   where m.workspace_id = p_workspace_id and m.active
     and m.id = coalesce((directory.find_member(p_workspace_id, p_user_id)).id,
                         (select min(i.member_id) from directory.identities i
                           where i.workspace_id = p_workspace_id and i.subject = p_user_id
                             and p_user_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                          having count(distinct i.member_id) = 1));
  if v_member_id is null then
    perform headroom.fail('not_found', 'There is no active member of that name in the workspace.', left(p_user_id, 80),
                          'Name a member by id, by Slack id, or by the id of their account. Nothing was written.');
  end if;
  return notify.tell(notify.recipient(p_workspace_id, 'member', v_member_id), p_key, p_content);
end
$$;
comment on function notify.tell_member(text, text, text, notify.content) is 'Tells a member something for a caller from outside.';
