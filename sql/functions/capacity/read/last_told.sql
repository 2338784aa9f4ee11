-- When a mail or a direct message last told somebody of a request. What stands in an inbox alone does not count: nobody may have looked.
create or replace function capacity.last_told(p_request_id text) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select max(s.at)
    from notify.notifications n
    join notify.part_stages s on s.notification_id = n.id and s.channel <> 'in-app' and s.stage in ('sent', 'delivered')
   where n.about = p_request_id and n.channels <> '{in-app}';
$$;
comment on function capacity.last_told(text) is 'When a message last told somebody of a request. Nullable: result.';
