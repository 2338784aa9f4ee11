-- When somebody was last told something about a request, by whatever an event or a notice sent to people, not to machines: in Slack or in
-- Linear, by mail before mails were notifications, or as a notification. What was delivered stands in the lanes and beside the
-- notifications, so what waits to be sent does not count, and the archive is not asked. Lists ask this of each row, so whole tables are
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
