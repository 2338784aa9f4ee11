-- Whether a time may be stored: it is in the years 1 to 9999, which every calendar and every receiver can write. Before PostgreSQL 17,
-- infinity cannot be used in arithmetic, nor can an interval be added at the ends of Postgres's range: one such row would make every query
-- over many rows fail.
create or replace function headroom.is_moment(p_at timestamptz) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select p_at >= '0001-01-01 00:00:00+00' and p_at < '10000-01-01 00:00:00+00';
$$;
comment on function headroom.is_moment(timestamptz) is 'Whether a time is in the years 1 to 9999. Nullable: p_at, result.';
