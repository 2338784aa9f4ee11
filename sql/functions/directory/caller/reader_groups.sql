-- For policies: the infra groups of the member who reads.
create or replace function directory.reader_groups() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members := directory.signed_in_member();
begin
  return array(select g.group_id from directory.group_members g
                where g.workspace_id = v_member.workspace_id and g.member_id = v_member.id);
end
$$;
comment on function directory.reader_groups() is 'The infra groups of the member who reads.';
