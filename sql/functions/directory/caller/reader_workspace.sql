-- For policies: the workspace of the member who reads, or null; with roles, only if the member has one of them. Expressing "may read
-- all of it" as an equality with a workspace, and not as true or false, lets the planner use an index for it.
create or replace function directory.reader_workspace(p_with_roles text[] default null) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_reader directory.standing := directory.reader();
begin
  return case when p_with_roles is null or v_reader.roles && p_with_roles then v_reader.workspace_id end;
end
$$;
comment on function directory.reader_workspace(text[])
  is 'The workspace of the member who reads, if they have one of the roles. Nullable: result.';
