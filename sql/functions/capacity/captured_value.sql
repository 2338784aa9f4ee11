-- What a delivery for a request brought back, such as the thread of its first Slack message. Definer, because readers of the
-- view may not read the engine's tables; the view shows it only for requests that they may see.
create or replace function capacity.captured_value(p_request_id text, p_rail text, p_name text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select c.value #>> '{}'
      from outbox.lanes l join outbox.captures c on c.lane_id = l.lane_id and c.name = p_name
     where l.stream_id = (select s.stream_id from outbox.streams s where s.name = 'capacity') and l.key = p_request_id || ':' || p_rail
  );
end
$$;
comment on function capacity.captured_value(text, text, text) is 'A capture of a request''s deliveries on a rail. Nullable: result.';
