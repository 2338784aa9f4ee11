-- What is open, by stage and by whom it waits on. A request under review waits in both stages until each has its approval, so it may be
-- counted twice; and once for each person if it waits on a person and their delegate. As in capacity.waits, a review waits on a role or a
-- group by its name, and on people one by one. If nobody is left who could decide, the kind is `nobody`, and waits_on is the owner, role or
-- group that has nobody. `late` counts requests that have waited longer than the workspace allows, and customers whose deadline has passed.
--
-- Counted by party first, and then split by person: there are few people and many requests.
create or replace view public.capacity_backlog with (security_invoker = true) as
select b.workspace_id, b.step as stage, k.waits_on_kind, p.waits_on, sum(b.requests)::bigint as requests,
       min(b.oldest_since) as oldest_since,
       extract(epoch from now() - min(b.oldest_since))::double precision as oldest_seconds, sum(b.late)::bigint as late,
       sum(b.monthly_cost_usd) as monthly_cost_usd
  from (select w.workspace_id, w.step, w.kind, w.party, w.asked, count(*) as requests, min(w.since) as oldest_since,
               count(*) filter (where case w.step when 'confirmation' then now() > w.next_deadline_at when 'provisioning' then false
                                        else now() > w.since + s.review_sla_hours * interval '1 hour' end) as late,
               sum(w.estimated_monthly_cost_usd) as monthly_cost_usd
          from capacity.waits w join directory.workspaces s on s.id = w.workspace_id
         group by w.workspace_id, w.step, w.kind, w.party, w.asked) b
 cross join lateral (
       select case when b.kind in ('customer', 'operator') then b.kind when b.asked = '{}' then 'nobody'
                   when b.kind in ('role', 'group') then b.kind else 'member' end as waits_on_kind) k
 cross join lateral unnest(case when k.waits_on_kind = 'member' then b.asked else array[b.party] end) p(waits_on)
 where (select directory.reader_key_valid())
 group by b.workspace_id, b.step, k.waits_on_kind, p.waits_on;
comment on view public.capacity_backlog is 'Open requests by workspace, stage and whom they wait on, with the age of the oldest.';
