-- A time zone that somebody chose, or UTC where the server does not know it any more: the lists of zones change with the operating system,
-- and nobody's message, nor anybody else's, waits for that.
create or replace function notify.known_zone(p_zone text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  perform now() at time zone p_zone;
  return p_zone;
exception when invalid_parameter_value then
  return 'UTC';
end
$$;
comment on function notify.known_zone(text) is 'A time zone, or UTC where it is not known any more. Nullable: p_zone, result.';
