-- The name of a member in messages.
create or replace function provisioning.name_of(p_workspace_id text, p_member_id text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select left(m.display_name, 100) from directory.members m where m.workspace_id = p_workspace_id and m.id = p_member_id),
                  left(p_member_id, 63), 'Somebody');
$$;
comment on function provisioning.name_of(text, text) is 'The name of a member, as the directory has it.';
