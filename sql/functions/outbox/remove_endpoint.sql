-- Removes an endpoint and its secrets. Rows that still wait for it die as unknown_endpoint when their turn comes, and can be redriven once
-- an endpoint of that name exists again.
create or replace function outbox.remove_endpoint(p_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform outbox.find_endpoint(p_name, null, true);
  perform outbox.drop_endpoint_secrets(array_agg(s.secret_id)) from outbox.endpoint_secrets s where s.endpoint = p_name;
  delete from outbox.endpoints e where e.name = p_name;
end
$$;
comment on function outbox.remove_endpoint(text) is 'Removes an endpoint and its secrets.';
