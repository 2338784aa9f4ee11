-- Who sees which rows of the directory: the people and the settings of one's own workspace. These policies open tables only for
-- reading; definer functions write.
select directory.protect_tables('directory');

create policy members on directory.workspaces for select to authenticated using (id = (select directory.reader_workspace()));
create policy members on directory.members for select to authenticated using (workspace_id = (select directory.reader_workspace()));
