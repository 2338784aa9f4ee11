-- A person's time zone, or UTC if the server no longer knows it: the list of zones changes with the operating system, and that must not
-- delay this person's messages or anybody else's.
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
comment on function notify.known_zone(text) is 'A time zone, or UTC where it is no longer known. Nullable: p_zone, result.';
