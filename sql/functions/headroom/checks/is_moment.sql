-- Whether a time is one that may be kept: of the years 1 to 9999, which every calendar and every receiver can write. With infinity
-- nothing can be computed before PostgreSQL 17, nor can an interval be added at the ends of what Postgres holds: one such row would fail
-- whatever looks at many.
create or replace function headroom.is_moment(p_at timestamptz) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select p_at >= '0001-01-01 00:00:00+00' and p_at < '10000-01-01 00:00:00+00';
$$;
comment on function headroom.is_moment(timestamptz) is 'Whether a time is of the years 1 to 9999. Nullable: p_at, result.';
