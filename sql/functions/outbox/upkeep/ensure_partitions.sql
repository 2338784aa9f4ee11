-- Makes the archive's partitions for the days ahead. Each one is created separately and then attached: attaching takes a lock that does not
-- conflict with running claims, which "create table ... partition of" would wait for.
create or replace function outbox.ensure_partitions(p_days_ahead integer default 30) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
as $$
declare
  v_class outbox.retention_classes;
  v_parent text;
  v_leaf text;
  v_from timestamptz;
  v_to timestamptz;
  v_made integer := 0;
begin
  if p_days_ahead is null or p_days_ahead not between 1 and 3650 then
    perform headroom.fail('invalid_input', 'Partitions are made for 1 to 3650 days ahead.');
  end if;
  -- One session at a time: a second one would only find the work done, and the relay that calls this should not wait.
  if not headroom.try_turn('outbox.ensure_partitions') then
    return 0;
  end if;
  -- Only if it is missing: making a trigger waits for running claims, and makes new ones wait.
  if not exists (select from pg_trigger where tgrelid = 'outbox.attempts'::regclass and tgname = 'append_only') then
    perform outbox.protect_archive_table('outbox.attempts');
  end if;

  for v_class in select * from outbox.retention_classes order by class_id loop
    v_parent := 'attempts_' || v_class.name;
    if to_regclass('outbox.' || quote_ident(v_parent)) is null then
      execute format(
        'create table outbox.%I (like outbox.attempts including defaults including constraints) partition by range (outbox_id)', v_parent);
      perform outbox.protect_archive_table(format('outbox.%I', v_parent)::regclass);
      execute format('alter table outbox.attempts attach partition outbox.%I for values in (%s)', v_parent, v_class.class_id);
      v_made := v_made + 1;
    end if;

    -- Periods are counted from the epoch, so that every server cuts at the same places. One period back as well: a row enqueued just before
    -- midnight may be claimed just after. And all periods since the last partition that exists: producers may have continued for weeks
    -- while no relay ran, and their rows need the days that nobody made.
    v_from := to_timestamp(floor(extract(epoch from now()) / 86400 / v_class.partition_days - 1) * v_class.partition_days * 86400);
    select least(v_from, max(p.to_at)) into v_from from outbox.archive_partitions() p where p.class_id = v_class.class_id;
    while v_from < now() + make_interval(days => p_days_ahead) loop
      v_to := v_from + make_interval(secs => v_class.partition_days * 86400);
      v_leaf := v_parent || '_' || to_char(v_from at time zone 'utc', 'YYYYMMDD');
      if to_regclass('outbox.' || quote_ident(v_leaf)) is null then
        execute format(
          'create table outbox.%I (like outbox.attempts including defaults including constraints)
             with (autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.5)', v_leaf);
        perform outbox.protect_archive_table(format('outbox.%I', v_leaf)::regclass);
        execute format('alter table outbox.%I attach partition outbox.%I for values from (%L) to (%L)',
                       v_parent, v_leaf, outbox.partition_floor(v_from), outbox.partition_floor(v_to));
        v_made := v_made + 1;
      end if;
      v_from := v_to;
    end loop;
  end loop;
  return v_made;
end
$$;
comment on function outbox.ensure_partitions(integer)
  is 'Makes missing archive partitions for the days ahead and returns how many it made.';
