-- Why a job has not begun: `dispatch` (GitHub could not be asked for its run for a long time), `person` (an old request, which somebody may
-- be providing by hand), `not_connected`, `no_address`, `cleanup`, `cleanup_failed`, `run` (the run of its last attempt may still be going)
-- or `customer`; null for a job that does not wait, or will begin at the next sweep.
create or replace function provisioning.held_by(p_job_id uuid) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when j.state = 'queued' and j.asked_for = 'dispatch' then 'dispatch'
              when j.state <> 'waiting' then null
              when j.adopted then 'person'
              when not exists (select from provisioning.settings s where s.workspace_id = j.workspace_id) then 'not_connected'
              when provisioning.callback_address(j.workspace_id) is null then 'no_address'
              when j.cleanup = 'under_way' then 'cleanup'
              when j.cleanup = 'failed' then 'cleanup_failed'
              when j.has_turn then 'run'
              when exists (select from provisioning.jobs o
                            where o.workspace_id = j.workspace_id and o.customer_key = j.customer_key and o.id <> j.id
                              and (o.has_turn
                                   or o.state = 'waiting' and o.cleanup in ('none', 'done') and not o.adopted
                                      and (o.waiting_since, o.id) < (j.waiting_since, j.id))) then 'customer' end
    from provisioning.jobs j where j.id = p_job_id;
$$;
comment on function provisioning.held_by(uuid) is 'What a waiting job waits for. Nullable: result.';
