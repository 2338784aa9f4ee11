-- The alerts and how many streams and rails each is raised for now; without keys.
create or replace function webhooks.list_alerts() returns table (
  name text, endpoint text, template text, streams text[], repeat_minutes integer, raised integer, raised_since timestamptz
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.name, e.name, a.template, a.streams, a.repeat_minutes, count(x.alert)::integer, min(x.raised_at)
    from webhooks.alerts a join webhooks.endpoints e on e.id = a.endpoint_id left join webhooks.alerts_raised x on x.alert = a.name
   group by a.name, e.name
   order by a.name;
$$;
comment on function webhooks.list_alerts() is 'Alerts on dead letters, and whether they are raised. Nullable: streams, raised_since.';
