-- Everything that a job waits for now, in the words of wait_rules(): nothing for one that has ended.
create or replace function provisioning.waits_of(p_job provisioning.jobs) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct w.wait order by w.wait), '{}')
    from (select coalesce(provisioning.held_by(p_job.id), 'turn') as wait where p_job.state = 'waiting'
          union all
          select 'retry' where p_job.state = 'failed' and p_job.cleanup <> 'failed'
          union all
          select 'cleanup_failed' where p_job.cleanup = 'failed'
          union all
          select case when a.ended_at is not null then 'run' when a.status = 'claimed' then 'report'
                      when a.sent_at is null then 'dispatch' else 'claim' end
            from provisioning.attempts a
           where a.job_id = p_job.id and a.over_at is null) w;
$$;
comment on function provisioning.waits_of(provisioning.jobs) is 'What a job waits for now.';
