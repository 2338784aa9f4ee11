-- When somebody was last told something about a request. The lanes know whether anything was delivered at all; only then is the
-- archive asked.
create or replace function capacity.last_notified_at(p_request_id text, p_version integer) returns timestamptz
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream_id smallint;
begin
  select l.stream_id into v_stream_id
    from outbox.streams s
    join outbox.lanes l on l.stream_id = s.stream_id and l.key in (p_request_id || ':slack', p_request_id || ':email', p_request_id || ':linear')
    left join outbox.heads h on h.lane_id = l.lane_id
   where s.name = 'capacity' and (l.delivered_to is not null or h.delivered_to is not null)
   limit 1;
  return case when v_stream_id is not null then capacity.last_delivery(v_stream_id, p_request_id, p_version) end;
end
$$;
comment on function capacity.last_notified_at(text, integer) is 'When a message about a request last reached people. Nullable: result.';
