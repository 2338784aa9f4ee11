-- CR-<year>-<number>, with the year in UTC, whatever the session's time zone.
--
-- The default workspace uses consecutive numbers, padded to six digits and never cut, so that ids stay right past the millionth. One
-- sequence serves all years, so nothing is reset in a new year. Other workspaces get nine random digits: all ids share one namespace in the
-- installation, and consecutive numbers would tell each workspace how much the others ask for. The generator is not predictable, because a
-- session serves many workspaces. If two transactions draw the same number at the same instant, the primary key refuses one.
create or replace function capacity.next_request_id(p_workspace_id text, p_at timestamptz default clock_timestamp()) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_year text := 'CR-' || extract(year from p_at at time zone 'UTC') || '-';
  v_number text;
begin
  if p_workspace_id = 'default' then
    v_number := nextval('capacity.request_numbers');
    return v_year || lpad(v_number, greatest(6, length(v_number)), '0');
  end if;
  loop
    v_number := 100000000 + ('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint % 900000000;
    exit when not exists (select from capacity.requests r where r.id = v_year || v_number);
  end loop;
  return v_year || v_number;
end
$$;
comment on function capacity.next_request_id(text, timestamptz) is 'A new request id.';
