-- A time zone as the server knows it, whatever the case of its letters; or null. Only names: an offset such as +02:00 does not follow
-- daylight saving, and some of the operating system's other entries are not zones.
create or replace function notify.time_zone_named(p_name text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select min(z.name) from pg_timezone_names z
   where lower(z.name collate "C") = lower(btrim(p_name) collate "C") and length(p_name) <= 64
     and z.name !~ '^(posix|right)/' and z.name not in ('Factory', 'localtime', 'posixrules');
$$;
comment on function notify.time_zone_named(text) is 'A time zone by its name. Nullable: p_name, result.';
