-- I9: events go where the endpoints' topics and the subscriptions say, of one workspace or everywhere. An endpoint gets one finding for
-- what it misses and one for what it should not get.
create or replace function capacity.verify_routes(p_workspace_id text default null, out routes bigint, out findings jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select count(*) into routes from capacity.routes r where p_workspace_id is null or r.workspace_id = p_workspace_id;
  select coalesce(jsonb_agg(jsonb_build_object(
           'invariant', 'I9', 'code', d.code, 'subject', d.subject,
           'detail', case d.code when 'route_missing' then 'is not sent what it should get: ' else 'is sent what it should not get: ' end
                     || d.event_types) order by d.subject, d.code), '[]')
    into findings
    from (select case when r.name is null then 'route_missing' else 'route_extra' end as code,
                 concat_ws('/', nullif(workspace_id, ''), name) as subject,
                 string_agg(event_type::text, ', ' order by event_type) as event_types
            from capacity.wanted_routes(p_workspace_id) w
            full join (select r.* from capacity.routes r where p_workspace_id is null or r.workspace_id = p_workspace_id) r
                using (workspace_id, event_type, name)
           where w.name is null or r.name is null
           group by 1, 2) d;
end
$$;
comment on function capacity.verify_routes(text) is 'Verifies that events are sent to the endpoints that should get them.';
