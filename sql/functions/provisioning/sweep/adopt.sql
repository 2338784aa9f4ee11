-- Makes the jobs of requests that were confirmed before there were jobs. A database that began with jobs has no such requests. Each in its
-- own subtransaction, so that one bad row stops no other.
create or replace function provisioning.adopt(p_most integer) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_failed jsonb := '[]';
begin
  for v_row in
    select r.id, r.workspace_id from capacity.requests r
      left join capacity.timer_failures f on f.request_id = r.id and f.timer = 'provisioning'
     where r.state = 'PROVISIONING' and not exists (select from provisioning.jobs j where j.request_id = r.id)
       and coalesce(f.retry_at, '-infinity') <= now()
     order by r.id limit p_most
       for update of r skip locked
  loop
    continue when not provisioning.lock_turn(v_row.workspace_id, capacity.customer_key_of(v_row.id), false);
    begin
      perform provisioning.create_job(v_row.id, true);
    exception when others then
      v_failed := v_failed || capacity.timer_failed(v_row.id, 'provisioning', sqlstate, sqlerrm);
    end;
  end loop;
  return v_failed;
end
$$;
comment on function provisioning.adopt(integer) is 'Makes the missing jobs of requests that are being provisioned; returns what failed.';
