-- The member behind a Slack user, once Slack's signature has been checked. A user whom the directory does not know becomes a
-- requester on first use, if the workspace allows that, and never more than a requester; a removed member is not unknown. Two simultaneous
-- first uses make one member: the insert decides. Layers above refuse users whom they cannot tell apart from another person.
create or replace function directory.member_for_slack(
  p_workspace_id text, p_slack_user_id text, p_display_name text
) returns directory.members
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members;
  v_name text := coalesce(nullif(btrim(left(regexp_replace(p_display_name, '[[:cntrl:]\s]+', ' ', 'g'), 200)), ''), p_slack_user_id);
begin
  if p_slack_user_id is null or p_slack_user_id !~ '^[UW][A-Z0-9]{2,31}$' then
    perform headroom.fail('invalid_input', 'That is not the id of a Slack user.');
  end if;
  select m.* into v_member from directory.members m where m.workspace_id = p_workspace_id and m.slack_user_id = p_slack_user_id;
  if v_member.id is null then
    if not exists (select from directory.ended_accounts e
                    where e.workspace_id = p_workspace_id and e.issuer = 'slack' and e.subject = p_slack_user_id) then
      if not exists (select from directory.workspaces w where w.id = p_workspace_id and w.slack_users_become_requesters) then
        perform headroom.fail('not_allowed', 'You are not in the directory of this workspace.', null,
                              'Ask an admin to add you with your Slack id.');
      end if;
      perform headroom.run_hooks('directory.member_joining',
                                 jsonb_build_object('workspace_id', p_workspace_id, 'slack_user_id', p_slack_user_id));
      -- The Slack id becomes the member's id, unless another member has that already.
      insert into directory.members (workspace_id, id, display_name, slack_user_id, by_slack)
      select p_workspace_id, case when m.id is null then p_slack_user_id else 'slack-' || p_slack_user_id end, v_name, p_slack_user_id, true
        from (values (1)) one left join directory.members m on m.workspace_id = p_workspace_id and m.id = p_slack_user_id
      on conflict do nothing;
      select m.* into v_member from directory.members m where m.workspace_id = p_workspace_id and m.slack_user_id = p_slack_user_id;
    end if;
  end if;
  if v_member.id is null or not v_member.active then
    perform headroom.fail('not_allowed', 'You are not an active member of this workspace.', null, 'Ask an admin of the workspace.');
  end if;
  return v_member;
end
$$;
comment on function directory.member_for_slack(text, text, text)
  is 'The active member behind a Slack user, made a requester on first use where the workspace allows it.';
