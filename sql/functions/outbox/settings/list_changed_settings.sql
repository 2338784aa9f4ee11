-- Settings of Headroom's own streams, rails and limits that differ from what this release registers: an operator set them or, for a rail,
-- the relay that declared it. Migrations leave them alone.
create or replace function outbox.list_changed_settings()
returns table (kind text, name text, setting text, registered jsonb, value jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select r.kind, r.name, e.key, e.value, s.settings -> e.key
    from outbox.registered_settings r
   cross join lateral (select outbox.settings_of(r.kind, r.name)) s(settings)
   cross join lateral jsonb_each(r.settings) e
   where s.settings -> e.key <> e.value
   order by r.kind, r.name, e.key;
$$;
comment on function outbox.list_changed_settings() is 'Settings that differ from what this release registers.';
