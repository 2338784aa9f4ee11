-- Tells a member of a workspace something for a caller from outside: who they are, what they want told and to whom is checked first.
create or replace function notify.tell_member(
  p_workspace_id text, p_user_id text, p_idempotency_key text, p_title text, p_body text, p_action_url text default null,
  p_channels text[] default '{in-app}', p_priority integer default 5, p_expires_at timestamptz default null
) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_member_id text;
  v_problem text := notify.told_problem(p_idempotency_key, p_title, p_body, p_action_url, p_channels, p_priority, p_expires_at);
begin
  perform notify.check_producer();
  if v_problem is not null then
    perform headroom.fail('invalid_input', format('The %s of the notification is not acceptable.', split_part(v_problem, ':', 1)),
                          v_problem, 'Nothing was written.');
  end if;
  v_member_id := notify.member_named(p_workspace_id, p_user_id);
  if v_member_id is null then
    perform headroom.fail('not_found', 'There is no active member of that name in the workspace.', left(p_user_id, 80),
                          'Name a member by id, by Slack id, or by the id of their account. Nothing was written.');
  end if;
  return notify.tell(p_workspace_id, 'member', v_member_id, p_idempotency_key, 'general', p_title, p_body, p_action_url, p_channels,
                     p_priority, p_expires_at);
end
$$;
comment on function notify.tell_member(text, text, text, text, text, text, text[], integer, timestamptz)
  is 'Tells a member something for a caller from outside. Nullable: p_action_url, p_expires_at.';
