-- When a mail or a direct message about a request was last delivered. An inbox entry alone does not count: nobody may have read it.
-- Written so that no plan scans a whole table: a plan made while the tables were small is kept. It first checks whether there is
-- anything to find: most requests reached only inboxes.
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
comment on function capacity.last_told(text) is 'When a message last told somebody about a request. Nullable: result.';
