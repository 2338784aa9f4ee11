-- What is open, by stage and by whom it waits on. A request under review waits in both stages until each has its approval, so a
-- request may be counted twice; and once for each person, where it waits on a person and their delegate. Whom a review waits on,
-- capacity.waits says: a role or a group by its name, and people one by one. Where nobody is left who could decide, the kind is
-- `nobody`, and waits_on is the owner, role or group that is deserted. `late` counts what has waited longer than the workspace allows.
create or replace view public.capacity_backlog with (security_invoker = true) as
select w.workspace_id, w.stage, w.waits_on_kind, w.waits_on, count(*) as requests, min(w.since) as oldest_since,
       extract(epoch from now() - min(w.since))::double precision as oldest_seconds,
       count(*) filter (where w.late) as late, sum(w.estimated_monthly_cost_usd) as monthly_cost_usd
  from (select v.workspace_id, v.step as stage, case when v.asked = '{}' then 'nobody' when v.kind in ('role', 'group') then v.kind else 'member' end as waits_on_kind,
               p.waits_on, v.since, now() > v.since + s.review_sla_hours * interval '1 hour' as late, v.estimated_monthly_cost_usd
          from capacity.waits v
          join capacity.workspaces s on s.id = v.workspace_id
         cross join lateral unnest(case when v.asked = '{}' or v.kind in ('role', 'group') then array[v.party] else v.asked end) p(waits_on)
        union all
        select r.workspace_id, 'confirmation', 'customer', null, r.state_since, now() > r.next_deadline_at, r.estimated_monthly_cost_usd
          from capacity.requests r where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
        union all
        select r.workspace_id, 'provisioning', 'operator', null, r.state_since, false, r.estimated_monthly_cost_usd
          from capacity.requests r where r.state = 'PROVISIONING') w
 group by w.workspace_id, w.stage, w.waits_on_kind, w.waits_on;
comment on view public.capacity_backlog is 'Open requests by workspace, stage and whom they wait on, with the age of the oldest.';
