-- Raises for whatever it is a trigger of. P0001 is the code that the archive has always answered with.
create or replace function outbox.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '% on %.% is refused', tg_op, tg_table_schema, tg_table_name
    using errcode = 'P0001',
          detail = case when tg_table_name like 'attempts%' then 'The archive of attempts is append-only.'
                        else 'Pending rows are finished one by one, never thrown away together.' end,
          hint = 'Old archive partitions are dropped by outbox.gc(); rows are skipped with outbox.skip().';
end
$$;
comment on function outbox.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE on the archive, and TRUNCATE on pending rows.';
