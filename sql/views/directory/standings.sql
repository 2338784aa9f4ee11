-- What rights each active member has now: roles, groups, and for whom they stand in because that member is away and named them. An owner
-- has a stand-in only while the owner's own roles include reviewing. linked: it is known which Slack user they are, or that they are none,
-- or no Slack user became a member here on their own. The only source of directory.standing, for readers and actors alike.
create or replace view directory.standings as
select m.workspace_id, m.id as member_id, m.display_name as name, m.slack_user_id, m.roles,
       array(select g.group_id from directory.group_members g where g.workspace_id = m.workspace_id and g.member_id = m.id) as groups,
       coalesce(a.everybody, '{}') as stands_for, coalesce(a.owners, '{}') as stands_for_owners,
       m.slack_user_id is not null or m.without_slack_by is not null
         or not exists (select from directory.members s where s.workspace_id = m.workspace_id and s.by_slack) as linked
  from directory.members m
 cross join lateral (
       select array_agg(o.id) as everybody, array_agg(o.id) filter (where o.roles && array['commercial', 'vp', 'admin']) as owners
         from directory.members o
        where o.workspace_id = m.workspace_id and o.delegate_id = m.id and o.active
          and clock_timestamp() >= o.away_from and clock_timestamp() < o.away_until) a
 where m.active;
comment on view directory.standings is 'Active members with their roles and groups, and for whom they stand in now.';
