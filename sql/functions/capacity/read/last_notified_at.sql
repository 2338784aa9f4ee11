-- When somebody was last told something about a request. The lanes know whether anything was delivered at all; only then is the
-- archive asked.
create or replace function capacity.last_notified_at(p_request_id text, p_version integer) returns timestamptz
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from outbox.lane_positions l
              where l.stream = 'capacity' and l.delivered
                and l.key in (p_request_id || ':slack', p_request_id || ':email', p_request_id || ':linear')) then
    return capacity.last_delivery(p_request_id, p_version);
  end if;
  return capacity.last_told(p_request_id);
end
$$;
comment on function capacity.last_notified_at(text, integer) is 'When a message about a request last reached people. Nullable: result.';
