-- Who could speak for each party that a review may wait on, by the current directory. The rules of who is active, who has the role and who
-- stands in for whom are here, for every surface; capacity.authorize() applies the same rules to one member, and a test proves that they
-- agree.
--
-- A party is an owner (who must have a reviewing role), a member whom a rule names, a role, or an infra group. While a person is away,
-- their delegate speaks for them too, as owner or as the one whom a rule names. A role is never delegated: its other holders are
-- there for that. A delegate's own delegate stands in for nobody. Queries about a request leave out its requester themselves.
--
-- Runs with the owner's rights on purpose: views that run with the reader's join it, and no other role can name it.
create or replace view capacity.candidates as
select o.workspace_id, 'owner'::text as kind, o.id as party, o.id as member_id, o.display_name, null::text as stands_for,
       (statement_timestamp() >= o.away_from and statement_timestamp() < o.away_until) is true as away, o.slack_user_id
  from directory.members o
 where o.active and o.roles && array['commercial', 'vp', 'admin']
union all
select o.workspace_id, 'owner', o.id, d.id, d.display_name, o.id,
       (statement_timestamp() >= d.away_from and statement_timestamp() < d.away_until) is true, d.slack_user_id
  from directory.members o
  join directory.members d on d.workspace_id = o.workspace_id and d.id = o.delegate_id and d.active
 where o.active and o.roles && array['commercial', 'vp', 'admin'] and statement_timestamp() >= o.away_from
   and statement_timestamp() < o.away_until
union all
select n.workspace_id, 'member', n.id, n.id, n.display_name, null,
       (statement_timestamp() >= n.away_from and statement_timestamp() < n.away_until) is true, n.slack_user_id
  from directory.members n
 where n.active
union all
select n.workspace_id, 'member', n.id, d.id, d.display_name, n.id,
       (statement_timestamp() >= d.away_from and statement_timestamp() < d.away_until) is true, d.slack_user_id
  from directory.members n
  join directory.members d on d.workspace_id = n.workspace_id and d.id = n.delegate_id and d.active
 where n.active and statement_timestamp() >= n.away_from and statement_timestamp() < n.away_until
union all
select m.workspace_id, 'role', x.role, m.id, m.display_name, null,
       (statement_timestamp() >= m.away_from and statement_timestamp() < m.away_until) is true, m.slack_user_id
  from directory.members m cross join lateral unnest(m.roles) x(role)
 where m.active
union all
select m.workspace_id, 'group', g.group_id, m.id, m.display_name, null,
       (statement_timestamp() >= m.away_from and statement_timestamp() < m.away_until) is true, m.slack_user_id
  from directory.group_members g
  join directory.members m on m.workspace_id = g.workspace_id and m.id = g.member_id and m.active;
comment on view capacity.candidates is 'Who could speak for an owner, a named member, a role or a group now.';
