-- When people, not machines, last got a message about a request, from an event or a notice: in Slack or in
-- Linear, by mail before mails were notifications, or as a notification. Deliveries are recorded in the lanes and with the
-- notifications, so unsent messages do not count and the archive is not read. Lists call this for each row, so whole tables are
-- never read, as in last_told.sql.
create or replace function capacity.last_notified_at(p_request_id text) returns timestamptz
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return greatest(
    (select max(l.delivered_at) from outbox.lane_positions l
      where l.stream = 'capacity' and l.key in (p_request_id || ':slack', p_request_id || ':linear', p_request_id || ':email')),
    capacity.last_told(p_request_id));
end
$$;
comment on function capacity.last_notified_at(text) is 'When a message about a request last reached people. Nullable: result.';
