-- A member's current standing, for rights; null if there is no such active member.
create or replace function directory.standing_of(p_workspace_id text, p_member_id text) returns directory.standing
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_standing directory.standing;
begin
  select s.* into v_standing from directory.standings s where s.workspace_id = p_workspace_id and s.member_id = p_member_id;
  return v_standing;
end
$$;
comment on function directory.standing_of(text, text) is 'An active member with roles, groups and whom they stand in for now; or null.';
