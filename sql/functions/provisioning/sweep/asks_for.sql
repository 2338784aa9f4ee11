-- What somebody is asked to do about a job now, by what it waits for, or null where it waits for nobody: a relay that sends (`dispatch`), a
-- cleanup by hand (`cleanup_failed`), another attempt (`retry`), or what holds a job that waits (`person`, `not_connected`, `no_address`).
create or replace function provisioning.asks_for(p_job provisioning.jobs) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_job.cleanup = 'failed' then 'cleanup_failed'
           when (provisioning.unsent_attempt(p_job)).job_id is not null then 'dispatch'
           when p_job.state = 'failed' then 'retry'
           when h.held in ('person', 'not_connected', 'no_address') then h.held end
    from (select provisioning.held_by(p_job.id) as held) h;
$$;
comment on function provisioning.asks_for(provisioning.jobs) is 'What people are asked to do about a job. Nullable: result.';
