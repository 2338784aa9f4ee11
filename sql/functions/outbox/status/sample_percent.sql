-- How much of a table to read for about p_rows of its rows, in per cent; all of it up to 10,000 rows. The size is the planner's
-- estimate, which autovacuum maintains; if that is wrong, the sample is larger or smaller, but still valid.
create or replace function outbox.sample_percent(p_table regclass, p_rows integer) returns real
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_few boolean;
begin
  execute format('select count(*) <= 10000 from (select from %s limit 10001) t', p_table) into v_few;
  return case when v_few then 100 else (select 100 * p_rows / greatest(c.reltuples, p_rows) from pg_class c where c.oid = p_table) end;
end
$$;
comment on function outbox.sample_percent(regclass, integer)
  is 'Per cent of a table''s pages that hold about so many rows; all of a small table.';
