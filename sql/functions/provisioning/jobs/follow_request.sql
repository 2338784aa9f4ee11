-- Hook of capacity.provisioning_changed: a request that begins to be provisioned gets its job, and a request that ends ends its job, in the
-- same transaction, however the request was moved.
create or replace function provisioning.follow_request(p_change jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_change ->> 'state_after' = 'PROVISIONING' then
    perform provisioning.create_job(p_change ->> 'request_id');
  else
    perform provisioning.end_job(p_change);
  end if;
  return null;
end
$$;
comment on function provisioning.follow_request(jsonb) is 'Begins or ends the job of a request that moved. Nullable: result.';
