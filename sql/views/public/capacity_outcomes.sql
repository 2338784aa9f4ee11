-- How requests ended, from which state and by which event, by day (UTC), ten years back.
create or replace view public.capacity_outcomes with (security_invoker = true) as
select w.id as workspace_id, d.day, o.outcome, o.origin_state, o.event_type, o.requests
  from directory.workspaces w
 cross join generate_series(0, 3653) n(ago)
 cross join lateral (select (now() at time zone 'UTC')::date - n.ago) d(day)
 cross join lateral (
       select e.state_after as outcome, e.state_before as origin_state, e.event_type, count(*) as requests
         from capacity.events e
        where e.workspace_id = w.id and e.created_at >= d.day::timestamp at time zone 'UTC'
          and e.created_at < (d.day + 1)::timestamp at time zone 'UTC'
          and e.state_before <> e.state_after and e.state_after in ('COMPLETED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED')
        group by e.state_after, e.state_before, e.event_type) o
 where (select directory.reader_key_valid());
comment on view public.capacity_outcomes
  is 'Ended requests by workspace, day (UTC), outcome, the state they were in, and the event that ended them.';
