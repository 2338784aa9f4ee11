-- Who sees which rows of the directory: the people and the settings of one's own workspace. What is opened here is opened for reading
-- only; writing happens in definer functions.
do $$
declare
  v_table text;
  v_policy record;
begin
  for v_table in select c.oid::regclass::text from pg_class c
    where c.relnamespace = 'directory'::regnamespace and c.relkind in ('r', 'p') loop
    execute format('alter table %s enable row level security', v_table);
    for v_policy in select p.polname from pg_policy p where p.polrelid = v_table::regclass loop
      execute format('drop policy %I on %s', v_policy.polname, v_table);
    end loop;
    -- Operators and auditors of the installation see every workspace, as far as they are granted a table at all; so do machines, until
    -- their key is revoked.
    execute format('create policy all_workspaces on %s for select to headroom_control, headroom_auditor using (true)', v_table);
    execute format('create policy machines on %s for select to service_role using ((select directory.reader_key_valid()))', v_table);
  end loop;
end
$$;

create policy members on directory.workspaces for select to authenticated using (id = (select directory.reader_workspace()));
create policy members on directory.members for select to authenticated using (workspace_id = (select directory.reader_workspace()));
