-- Refuses the change that fires this trigger. It does not use headroom.fail(): the payment outbox is specified to answer a change of its
-- archive with SQLSTATE P0001, and its users rely on that. The detail begins with the code, as everywhere.
create or replace function outbox.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '% on %.% is refused.', tg_op, tg_table_schema, tg_table_name
    using errcode = 'P0001',
          detail = 'append_only: ' || case when tg_table_name like 'attempts%' then 'the archive of attempts is append-only'
                                           else 'pending rows are finished one by one, never thrown away together' end,
          hint = 'Old archive partitions are dropped by outbox.gc(); rows are skipped with outbox.skip().';
end
$$;
comment on function outbox.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE on the archive, and TRUNCATE on pending rows.';
