-- What a relay needs to call the endpoint of a row, its secrets in the clear: only for relays, which hold the key that opens them. The
-- endpoint of a workspace is found only for rows of that workspace, whatever a row says about where it goes; the installation's for any.
-- Null secrets mean that they cannot be read under the key of this session; the row is tried again, because another relay may have the key.
create or replace function webhooks.endpoint_for_relay(p_endpoint_id uuid, p_tenant_id text default null)
returns table (
  id uuid, version integer, enabled boolean, disabled_code text, url text, private boolean, secrets text[], has_headers boolean,
  headers jsonb, expires_in_ms double precision
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select e.id, e.version, e.enabled, e.disabled_code, e.url, e.private,
         case when not e.enabled then null else k.secrets end,
         e.header_names <> '{}',
         case when e.enabled and e.header_names <> '{}' then
           (select headroom.open_box(webhooks.box_name(s.secret_id))::jsonb from webhooks.endpoint_secrets s
             where s.endpoint_id = e.id and s.kind = 'headers') end,
         extract(epoch from k.expires_at - clock_timestamp())::double precision * 1000
    from webhooks.endpoints e
   cross join lateral (
         select case when bool_and(o.value is not null) then array_agg(o.value order by o.created_at desc) end as secrets,
                min(o.expires_at) as expires_at
           from (select headroom.open_box(webhooks.box_name(s.secret_id)) as value, s.created_at, s.expires_at
                   from webhooks.endpoint_secrets s
                  where e.enabled and s.endpoint_id = e.id and s.kind = 'signing' and coalesce(s.expires_at > clock_timestamp(), true)) o) k
   where e.id = p_endpoint_id and (e.tenant_id is null or e.tenant_id = p_tenant_id);
end
$$;
comment on function webhooks.endpoint_for_relay(uuid, text)
  is 'An endpoint with its secrets, for relays. Nullable: disabled_code, secrets, headers, expires_in_ms.';
