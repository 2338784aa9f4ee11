-- For policies: the member who reads, and everybody they stand in for at the moment. A rule that names one of these also means the reader.
-- The same condition as in capacity.stands_in_for(), from the delegate's side.
create or replace function directory.reader_named() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_reader directory.standing := directory.reader();
begin
  return v_reader.stands_for || v_reader.member_id;
end
$$;
comment on function directory.reader_named() is 'The member who reads, and those for whom they stand in now.';
