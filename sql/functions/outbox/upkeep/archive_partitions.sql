-- The archive's leaf partitions with their bounds, read from the catalogue, which is right even when somebody made one by hand.
create or replace function outbox.archive_partitions()
returns table (class_id smallint, partition regclass, from_id uuid, to_id uuid, from_at timestamptz, to_at timestamptz)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select c.class_id, leaf.oid::regclass, b.ids[1]::uuid, b.ids[2]::uuid, outbox.id_time(b.ids[1]::uuid), outbox.id_time(b.ids[2]::uuid)
    from outbox.retention_classes c
    join pg_inherits i on i.inhparent = to_regclass(format('outbox.%I', 'attempts_' || c.name))
    join pg_class leaf on leaf.oid = i.inhrelid
   cross join lateral (select regexp_match(pg_get_expr(leaf.relpartbound, leaf.oid),
                                           'FROM \(''([0-9a-f-]{36})''\) TO \(''([0-9a-f-]{36})''\)') as ids) b
   where b.ids is not null;
$$;
comment on function outbox.archive_partitions() is 'Leaf partitions of the archive, with the times that they cover.';
