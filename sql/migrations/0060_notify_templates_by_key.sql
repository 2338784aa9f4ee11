-- A workspace's own text is found by all of its key. By an index of name and language alone, a plan that was made while there were few went
-- through those of every workspace.
drop index notify.templates_own;
create index templates_own on notify.templates (name, language, workspace_id);
