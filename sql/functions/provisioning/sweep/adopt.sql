-- Makes the job of requests that were confirmed before there were jobs. In a database that began with them there are none.
create or replace function provisioning.adopt(p_most integer) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
begin
  for v_row in
    select r.id, r.workspace_id from capacity.requests r
     where r.state = 'PROVISIONING' and not exists (select from provisioning.jobs j where j.request_id = r.id)
     order by r.id limit p_most
       for update of r skip locked
  loop
    continue when not provisioning.lock_turn(v_row.workspace_id, capacity.customer_key_of(v_row.id), false);
    perform provisioning.create_job(v_row.id);
  end loop;
end
$$;
comment on function provisioning.adopt(integer) is 'Makes the missing jobs of requests that are being provisioned.';
