-- Takes a member out of the directory. The log names members for ever, so the row stays and is no longer active: no sign-in, no approval,
-- no place in a group. The answer says what now waits for somebody else: open requests, rules, and those whose delegate this was.
create or replace function capacity.remove_member(
  p_workspace_id text, p_id text, out member_id text, out left_groups text[], out open_requests bigint, out policies text[], out delegators text[]
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update capacity.members m set active = false where m.workspace_id = p_workspace_id and m.id = p_id returning m.id into member_id;
  if member_id is null then
    perform capacity.fail('not_found', format('There is no member "%s" in this workspace.', left(p_id, 64)), null, 'List members: headroom members list');
  end if;
  with gone as (
    delete from capacity.group_members g where g.workspace_id = p_workspace_id and g.member_id = p_id returning g.group_id
  )
  select coalesce(array_agg(g.group_id order by g.group_id), '{}') into left_groups from gone g;
  select count(*) into open_requests from capacity.requests r
   where r.workspace_id = p_workspace_id and r.state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING')
     and (r.commercial_owner_user_id = p_id or r.review_plan #>> '{commercial,authority,member}' = p_id);
  select coalesce(array_agg(p.id order by p.id), '{}') into policies
    from capacity.policies p where p.workspace_id = p_workspace_id and p.approver_id = p_id and p.enabled;
  select coalesce(array_agg(m.id order by m.id), '{}') into delegators
    from capacity.members m where m.workspace_id = p_workspace_id and m.delegate_id = p_id and m.active;
end
$$;
comment on function capacity.remove_member(text, text) is 'Deactivates a member, and tells what waited on them.';
