-- CR-<year>-<number>: padded to six digits and never cut, so that ids stay right past the millionth. One sequence for all
-- years, so a new year needs no hand that resets it; the year is that of UTC, whatever the session's time zone.
create or replace function capacity.next_request_id(p_at timestamptz default clock_timestamp()) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_number text := nextval('capacity.request_numbers');
begin
  return 'CR-' || extract(year from p_at at time zone 'UTC') || '-' || lpad(v_number, greatest(6, length(v_number)), '0');
end
$$;
comment on function capacity.next_request_id(timestamptz) is 'A new request id.';
