-- Statement triggers and privileges do not reach partitions that are named directly, so each table of the archive gets its own: readers may
-- read it, nobody may change it. A platform's default privileges may have given a new table to its own roles, whose names are not known in
-- advance: all of them lose it.
create or replace function outbox.protect_archive_table(p_table regclass) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_others text;
begin
  execute format(
    'create or replace trigger append_only before update or delete or truncate on %s
       for each statement execute function outbox.refuse_change()', p_table);
  select string_agg(distinct ', ' || quote_ident(r.rolname), '') into v_others
    from pg_class c cross join aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
   where c.oid = p_table and a.grantee <> c.relowner;
  execute format('revoke all on %s from public%s', p_table, coalesce(v_others, ''));
  execute format('grant select on %s to headroom_executor, headroom_control, headroom_auditor', p_table);
end
$$;
comment on function outbox.protect_archive_table(regclass)
  is 'Makes one table of the archive append-only, and readable by those who may read the archive.';
