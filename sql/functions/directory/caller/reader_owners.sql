-- For policies: the commercial owners whose requests the member who reads sees as their own: that member, and those they stand in for at
-- the moment. The same condition as in capacity.acts_as_owner(), from the delegate's side.
create or replace function directory.reader_owners() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_reader directory.standing := directory.reader();
begin
  return v_reader.stands_for_owners || v_reader.member_id;
end
$$;
comment on function directory.reader_owners() is 'The member who reads, and the owners for whom they stand in now.';
