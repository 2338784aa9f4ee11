-- Removes an endpoint and its secrets, for good: rows that still wait for it die as unknown_endpoint when their turn comes, and one that
-- is made later under the same name is another. Refused while alerts go to it, which would fall silent.
create or replace function outbox.remove_endpoint(p_name text, p_workspace_id text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint outbox.endpoints := outbox.find_endpoint(p_name, p_workspace_id);
begin
  perform outbox.refuse_silence(v_endpoint);
  perform outbox.drop_endpoint_secrets(array_agg(s.secret_id)) from outbox.endpoint_secrets s where s.endpoint_id = v_endpoint.id;
  delete from outbox.endpoints e where e.id = v_endpoint.id;
end
$$;
comment on function outbox.remove_endpoint(text, text) is 'Removes an endpoint and its secrets, unless alerts go to it.';
