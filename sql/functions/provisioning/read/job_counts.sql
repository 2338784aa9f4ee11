-- How many jobs are open, by state, and since when the oldest is; how many cleanups have failed, and how many dispatches could not be sent:
-- for metrics and alerts.
create or replace function provisioning.job_counts() returns table (state text, jobs bigint, oldest_seconds double precision)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.state, count(j.id), coalesce(extract(epoch from clock_timestamp() - min(j.updated_at)), 0)::double precision
    from unnest(array['waiting', 'queued', 'provisioning', 'failed']) s(state)
    left join (select o.* from provisioning.jobs o
                where o.state in ('waiting', 'queued', 'provisioning', 'failed') or o.cleanup in ('under_way', 'failed')) j
      on j.state = s.state
   group by s.state
  union all
  select 'cleanup_failed', count(*), coalesce(extract(epoch from clock_timestamp() - min(j.updated_at)), 0)::double precision
    from provisioning.jobs j where j.cleanup = 'failed'
     and (j.state in ('waiting', 'queued', 'provisioning', 'failed') or j.cleanup in ('under_way', 'failed'))
  union all
  select 'not_dispatched', count(*), coalesce(extract(epoch from clock_timestamp() - min(j.asked_since)), 0)::double precision
    from provisioning.jobs j where j.asked_for = 'dispatch'
     and (j.state in ('waiting', 'queued', 'provisioning', 'failed') or j.cleanup in ('under_way', 'failed'));
$$;
comment on function provisioning.job_counts() is 'Open jobs by state, failed cleanups, and dispatches that wait.';
