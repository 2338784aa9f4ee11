-- For policies: the infra groups of the member who reads.
create or replace function directory.reader_groups() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((directory.reader()).groups, '{}');
end
$$;
comment on function directory.reader_groups() is 'The infra groups of the member who reads.';
