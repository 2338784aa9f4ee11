-- Who sees which rows of the directory: the people and the settings of one's own workspace. What is opened here is opened for reading
-- only; writing happens in definer functions.
select directory.protect_tables('directory');

create policy members on directory.workspaces for select to authenticated using (id = (select directory.reader_workspace()));
create policy members on directory.members for select to authenticated using (workspace_id = (select directory.reader_workspace()));
