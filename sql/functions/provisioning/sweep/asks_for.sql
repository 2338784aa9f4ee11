-- What people are asked to do about a job now, by what it waits for, or null if it waits for nobody: run a relay that sends (`dispatch`),
-- clean up by hand (`cleanup_failed`), try again (`retry`), or resolve what holds a waiting job (`person`, `not_connected`, `no_address`).
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
