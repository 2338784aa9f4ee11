-- Sets limits of destinations for which none are set yet; operators change them with limit_destination(). For the migrator's
-- registrations: {"slack:": {"min_interval_ms": 1000}}.
create or replace function outbox.ensure_limits(p_limits jsonb) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.limits (name, min_interval_ms, failure_threshold, open_base_ms)
  select e.key, (e.value ->> 'min_interval_ms')::integer, (e.value ->> 'failure_threshold')::integer, (e.value ->> 'open_base_ms')::integer
    from jsonb_each(p_limits) e
  on conflict (name) do nothing
$$;
comment on function outbox.ensure_limits(jsonb) is 'Sets limits of destinations that have none.';
