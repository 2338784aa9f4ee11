-- For policies: the commercial owners whose requests the member who reads sees as theirs: that member, and those for whom they stand in at
-- this moment. The same condition as in capacity.acts_as_owner(), seen from the delegate's side.
create or replace function directory.reader_owners() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members := directory.signed_in_member();
begin
  return array(select o.id from directory.members o
                where o.workspace_id = v_member.workspace_id and o.delegate_id = v_member.id
                  and o.active and o.roles && array['commercial', 'vp', 'admin']
                  and clock_timestamp() >= o.away_from and clock_timestamp() < o.away_until) || v_member.id;
end
$$;
comment on function directory.reader_owners() is 'The member who reads, and the owners for whom they stand in now.';
