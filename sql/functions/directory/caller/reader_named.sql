-- For policies: the member who reads, and everybody for whom they stand in at this moment. A rule that names one of these means the
-- reader. The same condition as in capacity.stands_in_for(), seen from the delegate's side.
create or replace function directory.reader_named() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members := directory.signed_in_member();
begin
  return array(select a.id from directory.members a
                where a.workspace_id = v_member.workspace_id and a.delegate_id = v_member.id and a.active
                  and clock_timestamp() >= a.away_from and clock_timestamp() < a.away_until) || v_member.id;
end
$$;
comment on function directory.reader_named() is 'The member who reads, and those for whom they stand in now.';
