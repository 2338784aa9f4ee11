-- How long reviews took, by the day of the approval (UTC), ten years back: from the submission to the approval of each step, and to the
-- approval that made both complete. Endorsements are not approvals. Approvals by a rule are separate, because they take no time.
--
-- "offset 0" makes each request be looked up by its id; the planner would otherwise read all requests again for each day.
create or replace view public.capacity_approval_latency with (security_invoker = true) as
select w.id as workspace_id, d.day, a.step, a.automatic, a.approvals, a.mean_seconds, a.median_seconds, a.p90_seconds, a.longest_seconds
  from directory.workspaces w
 cross join generate_series(0, 3653) n(ago)
 cross join lateral (select (now() at time zone 'UTC')::date - n.ago) d(day)
 cross join lateral (
       select s.step, e.actor_type = 'system' as automatic, count(*) as approvals, avg(l.seconds) as mean_seconds,
              percentile_cont(0.5) within group (order by l.seconds) as median_seconds,
              percentile_cont(0.9) within group (order by l.seconds) as p90_seconds,
              max(l.seconds) as longest_seconds
         from capacity.events e
        cross join lateral (select r.created_at from capacity.requests r where r.id = e.request_id offset 0) r
        cross join lateral (values (case e.event_type when 'COMMERCIAL_APPROVED' then 'commercial' else 'technical' end),
                                   (case e.state_after when 'CUSTOMER_CONFIRMATION_REQUIRED' then 'both' end)) s(step)
        cross join lateral (select extract(epoch from e.created_at - r.created_at)::double precision) l(seconds)
        where e.workspace_id = w.id and e.created_at >= d.day::timestamp at time zone 'UTC'
          and e.created_at < (d.day + 1)::timestamp at time zone 'UTC'
          and e.event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') and e.payload -> 'counts' is distinct from 'false'
            and s.step is not null
        group by s.step, e.actor_type = 'system') a
 where (select directory.reader_key_valid());
comment on view public.capacity_approval_latency
  is 'Approval latency by workspace, day (UTC) and step: commercial, technical, both. Ask for a span of days.';
