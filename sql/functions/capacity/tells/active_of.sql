-- The active members among these people, each once; at most fifty.
create or replace function capacity.active_of(p_workspace_id text, p_member_ids text[], p_but text[] default '{}') returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array(select m.id from directory.members m
                where m.workspace_id = p_workspace_id and m.id = any (p_member_ids) and m.id <> all (array_remove(p_but, null)) and m.active
                order by m.id limit 50);
$$;
comment on function capacity.active_of(text, text[], text[]) is 'The active members among these ids.';
