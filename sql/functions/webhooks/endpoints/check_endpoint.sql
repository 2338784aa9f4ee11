-- Refuses an endpoint that cannot be stored, before anything is written. An endpoint of a workspace receives only events of that
-- workspace's requests and its members' notifications: it must not see money that moves between others.
create or replace function webhooks.check_endpoint(p_endpoint webhooks.endpoints) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text := case
    when p_endpoint.name is null or p_endpoint.name !~ '^[a-z0-9][a-z0-9-]{0,62}$' then 'name: 1 to 63 small letters, digits and dashes'
    when length(p_endpoint.description) not between 1 and 500 then 'description: 1 to 500 characters, or null'
    when p_endpoint.topics is null or array_ndims(p_endpoint.topics) > 1 or cardinality(p_endpoint.topics) > 50
         or array_position(p_endpoint.topics, null) is not null then 'topics: a list of at most 50'
    when exists (select from unnest(p_endpoint.topics) t(topic)
                  where length(t.topic) > 200 or t.topic !~ '^(\*|[A-Za-z0-9_/:-]+(\.[A-Za-z0-9_/:-]+)*(\.\*)?)$')
      then 'topics: types of events, such as capacity.request.request_submitted, transfers.*, or * for all'
    when p_endpoint.tenant_id is not null
         and exists (select from unnest(p_endpoint.topics) t(topic) where t.topic !~ '^(\*$|capacity\.|headroom\.notification$)')
      then 'topics: an endpoint of a workspace receives capacity events and headroom.notification only'
  end;
begin
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the endpoint is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
      'Nothing was changed.');
  end if;
end
$$;
comment on function webhooks.check_endpoint(webhooks.endpoints) is 'Refuses an endpoint that cannot be stored.';
