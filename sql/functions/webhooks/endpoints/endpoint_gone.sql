-- Disables an endpoint whose receiver answered a relay that it is permanently gone (410). It does not if the endpoint was changed since the
-- relay read it, because then the answer was about another address, or if it is being changed at the moment, because a relay does not wait
-- for that, nor long for a migration. Returns whether it did.
create or replace function webhooks.endpoint_gone(p_endpoint_id uuid, p_version integer) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
as $$
begin
  update webhooks.endpoints e
     set enabled = false, disabled_at = now(), disabled_code = 'gone', disabled_reason = 'The receiver answered 410 Gone.',
         version = e.version + 1, updated_at = now()
   where e.id = (select o.id from webhooks.endpoints o
                  where o.id = p_endpoint_id and o.version = p_version and o.enabled for update skip locked);
  return found;
end
$$;
comment on function webhooks.endpoint_gone(uuid, integer) is 'Disables an endpoint whose receiver answered that it is gone.';
