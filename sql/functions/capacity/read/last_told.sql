-- When a mail or a direct message last told somebody of a request. What stands in an inbox alone does not count: nobody may have looked.
-- What became of messages is asked only where there are any; and never by reading the whole table: a plan that was made while there was
-- little in it is kept.
create or replace function capacity.last_told(p_request_id text) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_carried uuid[] := array(select p.notification_id from notify.notifications n join notify.parts p on p.notification_id = n.id
                             where n.about = p_request_id and n.channels <> '{in-app}' and p.state = 'carried');
begin
  return case when v_carried <> '{}' then (
    select max(s.at) from notify.part_stages s
     where s.notification_id = any (v_carried) and s.channel <> 'in-app' and s.stage in ('sent', 'delivered')) end;
end
$$;
comment on function capacity.last_told(text) is 'When a message last told somebody of a request. Nullable: result.';
