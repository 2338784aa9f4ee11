-- The next moment, not before p_after, at which a clock in this zone shows p_time. An hour that the clock skips in spring is treated as the
-- one after it; of an hour that it shows twice in autumn, the second is taken.
create or replace function notify.next_time(p_after timestamptz, p_zone text, p_time time) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date := (p_after at time zone p_zone)::date;
  v_at timestamptz;
begin
  for v_days in 0..2 loop
    v_at := ((v_day + v_days) + p_time) at time zone p_zone;
    exit when v_at >= p_after;
  end loop;
  return v_at;
end
$$;
comment on function notify.next_time(timestamptz, text, time) is 'When a clock in a zone next shows a time.';
