-- Endpoints as people see them: everything except their secrets. It shows how many secrets sign, when the next old one ends, whether this
-- session could read them, and how many of their rows are dead letters.
create or replace function webhooks.list_endpoints(p_tenant_id text default null)
returns table (
  id uuid, name text, tenant_id text, url text, description text, topics text[], header_names text[], enabled boolean,
  disabled_at timestamptz, disabled_code text, disabled_reason text, secrets integer, readable boolean, old_secret_until timestamptz,
  dead bigint, circuit text, created_at timestamptz, updated_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select e.id, e.name, e.tenant_id, e.url, e.description, e.topics, e.header_names, e.enabled, e.disabled_at, e.disabled_code,
         e.disabled_reason, k.n::integer, k.readable, k.until,
         outbox.dead_count_at('endpoint:' || e.id), outbox.circuit_of('endpoint:' || e.id), e.created_at, e.updated_at
    from webhooks.endpoints e
   cross join lateral (
         select count(*) filter (where s.kind = 'signing') as n,
                coalesce(bool_and(headroom.open_box(webhooks.box_name(s.secret_id)) is not null), false) as readable,
                min(s.expires_at) as until
           from webhooks.endpoint_secrets s where s.endpoint_id = e.id and coalesce(s.expires_at > now(), true)) k
   where p_tenant_id is null or e.tenant_id = p_tenant_id
   order by e.name, e.tenant_id nulls first;
end
$$;
comment on function webhooks.list_endpoints(text)
  is 'Endpoints and their state. Nullable: tenant_id, description, disabled_at, disabled_code, disabled_reason, old_secret_until.';
