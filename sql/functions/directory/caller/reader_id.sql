-- For policies: the member who reads, or null. Like the other `reader_*` it runs once per query, in an init-plan, and not once per row; who
-- reads is looked up once per transaction.
create or replace function directory.reader_id() returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (directory.reader()).member_id;
end
$$;
comment on function directory.reader_id() is 'The member who reads. Nullable: result.';
