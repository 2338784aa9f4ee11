-- Ages the archive by this many partitions of the data kept forever: those of the months before, as relays would have made them.
create function bench.age_archive(p_partitions integer) returns void language plpgsql as $$
declare
  v_class outbox.retention_classes;
  v_count integer;
  v_from timestamptz;
  v_to timestamptz;
  v_leaf text;
begin
  select c.* into v_class from outbox.streams s join outbox.retention_classes c using (class_id) where s.name = 'capacity';
  select count(*), min(p.from_at) into v_count, v_to from outbox.archive_partitions() p where p.class_id = v_class.class_id;
  while v_count < p_partitions loop
    v_from := v_to - make_interval(secs => v_class.partition_days * 86400);
    v_leaf := 'attempts_' || v_class.name || '_' || to_char(v_from at time zone 'utc', 'YYYYMMDD');
    execute format('create table outbox.%I (like outbox.attempts including defaults including constraints)', v_leaf);
    perform outbox.protect_archive_table(format('outbox.%I', v_leaf)::regclass);
    execute format('alter table outbox.%I attach partition outbox.%I for values from (%L) to (%L)',
                   'attempts_' || v_class.name, v_leaf, outbox.partition_floor(v_from), outbox.partition_floor(v_to));
    v_to := v_from;
    v_count := v_count + 1;
  end loop;
end
$$;
