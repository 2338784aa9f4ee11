-- Hook of directory.member_removed: the open requests and rules that waited on a member and now need somebody else. Messages that name
-- their Slack user are erased (capacity.forget_slack_users).
create or replace function capacity.left_behind(p_member jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := p_member ->> 'workspace_id';
  v_id text := p_member ->> 'member_id';
begin
  insert into capacity.removed_slack_users (workspace_id, slack_user_id)
  select v_workspace_id, p_member ->> 'slack_user_id' where p_member ->> 'slack_user_id' is not null
  on conflict (workspace_id, slack_user_id) do update set forgotten_to = '', left_over = false, next_at = now();
  return jsonb_build_object(
    'open_requests', (
      select count(*) from capacity.requests r
       where r.workspace_id = v_workspace_id and r.state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING')
         and (r.commercial_owner_user_id = v_id or r.review_plan #>> '{commercial,authority,member}' = v_id)),
    'policies', array(
      select p.id from capacity.policies p where p.workspace_id = v_workspace_id and p.approver_id = v_id and p.enabled order by p.id));
end
$$;
comment on function capacity.left_behind(jsonb) is 'Open requests and rules that waited on a member.';
