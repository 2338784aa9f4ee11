-- What each open request waits for and on whom: the same as capacity.asked_now() says about reviews, for many requests at the same time. A
-- test proves that the two agree for any directory. The steps are `commercial` and `technical`, both until each has its approval,
-- `confirmation`, which waits on the customer, and `provisioning`, on an operator.
--
-- kind and party say whose turn it is; asked says who that is: those who are here, or everybody if nobody is, and never the requester.
-- Nobody is asked in place of the person who asked for the capacity, not even a delegate. An empty array of a review means that nobody can
-- decide it now.
--
-- The steps come from one reading of the requests, because under row-level security each further reading checks again for every open
-- request whether the reader may see it.
create or replace view capacity.waits with (security_invoker = true) as
select r.id as request_id, r.workspace_id, r.state, w.step, w.kind, w.party, w.asked, w.since, r.state_since, r.next_deadline_at,
       coalesce((r.offer ->> 'monthly_usd')::numeric, r.estimated_monthly_cost_usd) as estimated_monthly_cost_usd, r.requester_user_id
  from capacity.requests r
 cross join lateral (
       select r.review_plan #>> '{commercial,authority,kind}' as kind,
              case r.review_plan #>> '{commercial,authority,kind}' when 'role' then r.review_plan #>> '{commercial,authority,role}'
                when 'member' then r.review_plan #>> '{commercial,authority,member}' end as party) a
  left join capacity.parties o on o.workspace_id = r.workspace_id and o.kind = 'owner' and o.party = r.commercial_owner_user_id
                              and r.commercial_owner_user_id <> r.requester_user_id
  left join capacity.parties p on p.workspace_id = r.workspace_id and p.kind in ('role', 'member') and p.kind = a.kind
    and p.party = a.party
                              and (a.kind = 'role' or a.party <> r.requester_user_id)
  left join capacity.parties g on g.workspace_id = r.workspace_id and g.kind = 'group' and g.party = r.infra_owner_group
 cross join lateral (select a.kind = 'owner' or r.commercial_endorsed_at is null and o.party is not null as owners_turn) t
 cross join lateral (
       select 'commercial'::text as step, case when t.owners_turn then 'owner' else a.kind end as kind,
              case when t.owners_turn then r.commercial_owner_user_id else a.party end as party,
              case when t.owners_turn then coalesce(nullif(array_remove(o.here, r.requester_user_id), '{}'),
                                                    array_remove(o.everyone, r.requester_user_id), '{}')
                   else coalesce(nullif(array_remove(p.here, r.requester_user_id), '{}'), array_remove(p.everyone, r.requester_user_id),
                                 '{}') end as asked,
              coalesce(r.commercial_endorsed_at, r.state_since) as since
        where r.state = 'UNDER_REVIEW' and r.commercial_approved_at is null
          and r.review_plan #> '{commercial,auto}' is distinct from 'true'
       union all
       select 'technical'::text, 'group'::text, r.infra_owner_group,
              coalesce(nullif(array_remove(g.here, r.requester_user_id), '{}'), array_remove(g.everyone, r.requester_user_id), '{}'),
              r.state_since
        where r.state = 'UNDER_REVIEW' and r.technical_approved_at is null and r.review_plan #> '{technical,auto}' is distinct from 'true'
       union all
       select case r.state when 'PROVISIONING' then 'provisioning' else 'confirmation' end, case r.state when 'PROVISIONING'
             then 'operator' else 'customer' end,
              null::text, '{}'::text[], r.state_since
        where r.state <> 'UNDER_REVIEW') w
 where r.state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING');
comment on view capacity.waits is 'What open requests wait for, and on whom now.';
