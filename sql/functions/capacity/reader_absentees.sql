-- For policies: everybody for whom the member who reads stands in at this moment. The same condition as in
-- capacity.stands_in_for(), seen from the delegate's side.
create or replace function capacity.reader_absentees() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_member capacity.members := capacity.signed_in_member();
begin
  return array(select a.id from capacity.members a
                where a.workspace_id = v_member.workspace_id and a.delegate_id = v_member.id and a.active
                  and clock_timestamp() >= a.away_from and clock_timestamp() < a.away_until);
end
$$;
comment on function capacity.reader_absentees() is 'The members for whom the member who reads stands in now.';
