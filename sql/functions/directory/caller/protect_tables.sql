-- Closes every table of a schema by row-level security, and opens it for reading to those who see all workspaces: the installation's
-- operators and auditors, if they are granted the table, and machines, until their key is revoked. The policies of each schema add what
-- members see. Called by sql/policies/, which may be applied again at any time.
create or replace function directory.protect_tables(p_schema text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text;
  v_policy text;
begin
  for v_table in select c.oid::regclass::text from pg_class c where c.relnamespace = p_schema::regnamespace and c.relkind in ('r', 'p') loop
    execute format('alter table %s enable row level security', v_table);
    for v_policy in select p.polname from pg_policy p where p.polrelid = v_table::regclass loop
      execute format('drop policy %I on %s', v_policy, v_table);
    end loop;
    execute format('create policy all_workspaces on %s for select to headroom_control, headroom_auditor using (true)', v_table);
    execute format('create policy machines on %s for select to service_role using ((select directory.reader_key_valid()))', v_table);
  end loop;
end
$$;
comment on function directory.protect_tables(text) is 'Closes the tables of a schema to all except those who see every workspace.';
