-- The archive's leaf partitions with their bounds, read from the catalogue, which is right even when a person made one by hand. "offset 0"
-- makes each bound be read once: without it, the expression would be evaluated again for every column that is made of it.
create or replace function outbox.archive_partitions()
returns table (class_id smallint, partition regclass, from_id uuid, to_id uuid, from_at timestamptz, to_at timestamptz)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select b.class_id, b.leaf, b.ids[1]::uuid, b.ids[2]::uuid, outbox.id_time(b.ids[1]::uuid), outbox.id_time(b.ids[2]::uuid)
    from (select c.class_id, leaf.oid::regclass as leaf,
                 regexp_match(pg_get_expr(leaf.relpartbound, leaf.oid), 'FROM \(''([0-9a-f-]+)''\) TO \(''([0-9a-f-]+)''\)') as ids
            from outbox.retention_classes c
            join pg_inherits i on i.inhparent = to_regclass(format('outbox.%I', 'attempts_' || c.name))
            join pg_class leaf on leaf.oid = i.inhrelid
          offset 0) b
   where b.ids is not null;
$$;
comment on function outbox.archive_partitions() is 'Leaf partitions of the archive, with the times that they cover.';
