-- The open reviews of all requests and whom each waits on: what capacity.asked_now() says, for many requests at once. A test proves
-- that the two agree, whatever the directory looks like.
--
-- kind and party say whose turn it is; asked, who that is: whoever is here, or everybody when nobody is, and never the requester. For
-- a person who asked for the capacity nobody is asked, not even a delegate. An empty array is a review that nobody can give now.
create or replace view capacity.waits with (security_invoker = true) as
select r.id as request_id, r.workspace_id, 'commercial'::text as step,
       case when t.owners_turn then 'owner' else a.kind end as kind,
       case when t.owners_turn then r.commercial_owner_user_id else a.party end as party,
       coalesce(case when t.owners_turn then f.asked_owner else f.asked_authority end, '{}') as asked,
       coalesce(r.commercial_endorsed_at, r.state_since) as since, r.state_since, r.estimated_monthly_cost_usd, r.requester_user_id
  from capacity.requests r
  left join capacity.parties o on o.workspace_id = r.workspace_id and o.kind = 'owner' and o.party = r.commercial_owner_user_id
                              and r.commercial_owner_user_id <> r.requester_user_id
 cross join lateral (
       select r.review_plan #>> '{commercial,authority,kind}' as kind,
              case r.review_plan #>> '{commercial,authority,kind}' when 'role' then r.review_plan #>> '{commercial,authority,role}'
                when 'member' then r.review_plan #>> '{commercial,authority,member}' end as party) a
  left join capacity.parties p on p.workspace_id = r.workspace_id and p.kind = a.kind and p.party = a.party
                              and (a.kind = 'role' or a.party <> r.requester_user_id)
 cross join lateral (select a.kind = 'owner' or r.commercial_endorsed_at is null and o.party is not null as owners_turn) t
 cross join lateral (
       select coalesce(nullif(array_remove(o.here, r.requester_user_id), '{}'), array_remove(o.everyone, r.requester_user_id)) as asked_owner,
              coalesce(nullif(array_remove(p.here, r.requester_user_id), '{}'), array_remove(p.everyone, r.requester_user_id)) as asked_authority) f
 where r.state = 'UNDER_REVIEW' and r.commercial_approved_at is null and r.review_plan #> '{commercial,auto}' is distinct from 'true'
union all
select r.id, r.workspace_id, 'technical', 'group', r.infra_owner_group,
       coalesce(nullif(array_remove(g.here, r.requester_user_id), '{}'), array_remove(g.everyone, r.requester_user_id), '{}'),
       r.state_since, r.state_since, r.estimated_monthly_cost_usd, r.requester_user_id
  from capacity.requests r
  left join capacity.parties g on g.workspace_id = r.workspace_id and g.kind = 'group' and g.party = r.infra_owner_group
 where r.state = 'UNDER_REVIEW' and r.technical_approved_at is null and r.review_plan #> '{technical,auto}' is distinct from 'true';
comment on view capacity.waits is 'Open reviews, and whom each waits on now.';
