-- How long requests stayed in each state, by the day on which they left it (UTC), ten years back. Read only from the log: a stay begins
-- with the event that entered the state. SUBMITTED is left in the same moment in which it is entered and has no line.
--
-- Workspace by workspace and day by day, so that a query for a span of days reads only the events of these days that the caller may see, by
-- index, under row-level security too.
create or replace view public.capacity_time_in_state with (security_invoker = true) as
select w.id as workspace_id, d.day, s.state, s.stays, s.mean_seconds, s.median_seconds, s.p90_seconds, s.longest_seconds
  from directory.workspaces w
 cross join generate_series(0, 3653) n(ago)
 cross join lateral (select (now() at time zone 'UTC')::date - n.ago) d(day)
 cross join lateral (
       select e.state_before as state, count(*) as stays, avg(b.seconds) as mean_seconds,
              percentile_cont(0.5) within group (order by b.seconds) as median_seconds,
              percentile_cont(0.9) within group (order by b.seconds) as p90_seconds,
              max(b.seconds) as longest_seconds
         from capacity.events e
        cross join lateral (
              select extract(epoch from e.created_at - b.created_at)::double precision as seconds
                from capacity.events b
               where b.request_id = e.request_id and b.seq < e.seq and b.state_after = e.state_before and b.state_before <> b.state_after
               order by b.seq desc limit 1) b
        where e.workspace_id = w.id and e.created_at >= d.day::timestamp at time zone 'UTC'
          and e.created_at < (d.day + 1)::timestamp at time zone 'UTC'
          and e.state_before <> e.state_after and e.seq > 1
        group by e.state_before) s
 where (select directory.reader_key_valid());
comment on view public.capacity_time_in_state
  is 'Time in state: stays that ended, by workspace, day (UTC) and state. Ask for a span of days.';
