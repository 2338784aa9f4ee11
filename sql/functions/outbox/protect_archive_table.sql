-- Statement triggers and privileges do not reach partitions that are named directly, so each table of the archive gets
-- its own: readers may read it, nobody may change it.
create or replace function outbox.protect_archive_table(p_table regclass) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'create or replace trigger append_only before update or delete or truncate on %s
       for each statement execute function outbox.refuse_change()', p_table);
  execute format('revoke all on %s from public', p_table);
  execute format('grant select on %s to headroom_executor, headroom_control, headroom_auditor', p_table);
end
$$;
comment on function outbox.protect_archive_table(regclass) is 'Makes one table of the archive append-only.';
