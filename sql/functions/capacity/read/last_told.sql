-- When a mail or a direct message last told somebody of a request. What stands in an inbox alone does not count: nobody may have looked.
-- Never by reading whole tables: a plan that was made while there was little in them is kept. Whether there is anything to look for is
-- asked first: of most requests only inboxes were told.
create or replace function capacity.last_told(p_request_id text) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if not exists (select from notify.notifications n where n.about = p_request_id and n.channels <> '{in-app}') then
    return null;
  end if;
  return (select max(e.reached_at)
            from notify.notifications n join notify.part_ends e on e.notification_id = n.id
           where n.about = p_request_id and n.channels <> '{in-app}');
end
$$;
comment on function capacity.last_told(text) is 'When a message last told somebody of a request. Nullable: result.';
