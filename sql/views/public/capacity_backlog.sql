-- What is open, by stage and by whom it waits on. A request under review waits in both stages until each has its approval, so a
-- request may be counted twice. A commercial review waits on the authority that the request's own rules name; an owner who is
-- away is represented by the delegate. `late` counts what has waited longer than the workspace allows.
create or replace view public.capacity_backlog with (security_invoker = true) as
select r.workspace_id, w.stage, w.waits_on_kind, w.waits_on, count(*) as requests, min(r.state_since) as oldest_since,
       extract(epoch from now() - min(r.state_since))::double precision as oldest_seconds,
       count(*) filter (where w.late) as late, sum(r.estimated_monthly_cost_usd) as monthly_cost_usd
  from capacity.requests r
  join capacity.workspaces s on s.id = r.workspace_id
  left join capacity.members o on o.workspace_id = r.workspace_id and o.id = r.commercial_owner_user_id
                              and o.delegate_id is not null and now() between o.away_from and o.away_until
 cross join lateral (
       select 'commercial' as stage, coalesce(a.kind, 'member') as waits_on_kind, a.who as waits_on,
              now() > r.state_since + s.review_sla_hours * interval '1 hour' as late
         from (select case r.review_plan #>> '{commercial,authority,kind}' when 'role' then 'role' end as kind,
                      case r.review_plan #>> '{commercial,authority,kind}'
                        when 'role' then r.review_plan #>> '{commercial,authority,role}'
                        when 'member' then r.review_plan #>> '{commercial,authority,member}'
                        else coalesce(o.delegate_id, r.commercial_owner_user_id) end as who) a
        where r.state = 'UNDER_REVIEW' and r.commercial_approved_at is null
       union all
       select 'technical', 'group', r.infra_owner_group, now() > r.state_since + s.review_sla_hours * interval '1 hour'
        where r.state = 'UNDER_REVIEW' and r.technical_approved_at is null
       union all
       select 'confirmation', 'customer', null, now() > r.next_deadline_at where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
       union all
       select 'provisioning', 'operator', null, false where r.state = 'PROVISIONING') w
 where r.state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING')
 group by r.workspace_id, w.stage, w.waits_on_kind, w.waits_on;
comment on view public.capacity_backlog is 'Open requests by workspace, stage and whom they wait on, with the age of the oldest.';
