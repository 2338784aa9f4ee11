-- Why a job that waits has not begun: `person` (an old request, which somebody may be providing by hand), `not_connected`, `no_address`,
-- `cleanup` or `customer`; null for one that does not wait, or will begin at the next look.
create or replace function provisioning.held_by(p_job_id uuid) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when j.state <> 'waiting' then null
              when j.adopted then 'person'
              when not exists (select from provisioning.settings s where s.workspace_id = j.workspace_id) then 'not_connected'
              when provisioning.callback_address(j.workspace_id) is null then 'no_address'
              when j.cleanup = 'under_way' then 'cleanup'
              when exists (select from provisioning.jobs o
                            where o.workspace_id = j.workspace_id and o.customer_key = j.customer_key and o.id <> j.id
                              and (o.state in ('queued', 'provisioning')
                                   or o.state = 'waiting' and o.cleanup <> 'under_way' and not o.adopted
                                      and (o.waiting_since, o.id) < (j.waiting_since, j.id))) then 'customer' end
    from provisioning.jobs j where j.id = p_job_id;
$$;
comment on function provisioning.held_by(uuid) is 'What a waiting job waits for. Nullable: result.';
