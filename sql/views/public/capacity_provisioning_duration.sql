-- How long provisioning took, by the day on which it ended (UTC), ten years back, and by how it ended.
create or replace view public.capacity_provisioning_duration with (security_invoker = true) as
select w.id as workspace_id, d.day, p.outcome, p.requests, p.mean_seconds, p.median_seconds, p.p90_seconds, p.longest_seconds
  from directory.workspaces w
 cross join generate_series(0, 3653) n(ago)
 cross join lateral (select (now() at time zone 'UTC')::date - n.ago) d(day)
 cross join lateral (
       select e.state_after as outcome, count(*) as requests, avg(b.seconds) as mean_seconds,
              percentile_cont(0.5) within group (order by b.seconds) as median_seconds,
              percentile_cont(0.9) within group (order by b.seconds) as p90_seconds,
              max(b.seconds) as longest_seconds
         from capacity.events e
        cross join lateral (
              select extract(epoch from e.created_at - b.created_at)::double precision as seconds
                from capacity.events b
               where b.request_id = e.request_id and b.seq < e.seq and b.state_after = 'PROVISIONING' and b.state_before <> 'PROVISIONING'
               order by b.seq desc limit 1) b
        where e.workspace_id = w.id and e.created_at >= d.day::timestamp at time zone 'UTC'
          and e.created_at < (d.day + 1)::timestamp at time zone 'UTC'
          and e.state_before <> e.state_after and e.state_before = 'PROVISIONING' and e.state_after in ('COMPLETED', 'FAILED')
        group by e.state_after) p
 where (select directory.reader_key_valid());
comment on view public.capacity_provisioning_duration is 'From PROVISIONING to COMPLETED or FAILED, by workspace, day (UTC) and outcome.';
