-- Members who may review, by a role, a group, a rule or as somebody's delegate, and for whom nobody has recorded a Slack user, or
-- that they have none. A new person in Slack might be any of them.
create or replace function capacity.unlinked_reviewers(p_workspace_id text default null)
returns table (workspace_id text, member_id text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.workspace_id, s.member_id
    from directory.standings s
    join directory.members m on m.workspace_id = s.workspace_id and m.id = s.member_id
   where (p_workspace_id is null or s.workspace_id = p_workspace_id) and m.slack_user_id is null and m.without_slack_by is null
     and (s.roles && array['commercial', 'vp', 'admin'] or s.groups <> '{}'
          or exists (select from directory.members o where o.workspace_id = s.workspace_id and o.delegate_id = s.member_id and o.active)
          or exists (select from capacity.policies p where p.workspace_id = s.workspace_id and p.approver_id = s.member_id and p.enabled))
   order by s.workspace_id, s.member_id;
$$;
comment on function capacity.unlinked_reviewers(text) is 'Reviewers whose Slack user is not known.';
