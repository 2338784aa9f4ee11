-- Endpoints as people see them: everything but their secrets, of which it says how many sign, when the next old one ends, and whether
-- this session could read them; and how many of their rows wait among the dead letters.
create or replace function outbox.list_endpoints(p_workspace_id text default null)
returns table (
  id uuid, name text, workspace_id text, url text, description text, topics text[], header_names text[], enabled boolean, disabled_at timestamptz,
  disabled_code text, disabled_reason text, secrets integer, readable boolean, old_secret_until timestamptz, dead bigint,
  circuit text, created_at timestamptz, updated_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select e.id, e.name, e.workspace_id, e.url, e.description, e.topics, e.header_names, e.enabled, e.disabled_at, e.disabled_code, e.disabled_reason,
         k.n::integer, k.readable, k.until,
         (select count(*) from outbox.dead x join outbox.payloads m on m.outbox_id = x.outbox_id join outbox.destinations d on d.destination_id = m.destination_id
           where d.name = 'endpoint:' || e.id),
         case when g.open_until > now() then 'open' when g.failures >= g.failure_threshold then 'half-open' else 'closed' end, e.created_at, e.updated_at
    from outbox.endpoints e
   cross join lateral outbox.gates_of(array['endpoint:' || e.id]) g
   cross join lateral (
         select count(*) filter (where s.kind = 'signing') as n, coalesce(bool_and(outbox.open_endpoint_secret(s.secret_id, s.box) is not null), false) as readable,
                min(s.expires_at) as until
           from outbox.endpoint_secrets s where s.endpoint_id = e.id and coalesce(s.expires_at > now(), true)) k
   where p_workspace_id is null or e.workspace_id = p_workspace_id
   order by e.name, e.workspace_id nulls first;
end
$$;
comment on function outbox.list_endpoints(text)
  is 'Endpoints and their state. Nullable: workspace_id, description, disabled_at, disabled_code, disabled_reason, old_secret_until.';
