-- Makes rails known before any relay has declared them, so that rows may name them: {"slack": {"capability": "lookup", "timeout_ms":
-- 15000}}. A relay that serves one declares it with its own values when it starts, which count from then on.
create or replace function outbox.ensure_rails(p_rails jsonb) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.rails (name, capability, timeout_ms)
  select e.key, e.value ->> 'capability', (e.value ->> 'timeout_ms')::integer
    from jsonb_each(p_rails) e
   where not exists (select from outbox.rails r where r.name = e.key)
$$;
comment on function outbox.ensure_rails(jsonb) is 'Makes rails known unless they are.';
