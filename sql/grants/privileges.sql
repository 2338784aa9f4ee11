-- Who may do what: all of it, in one place. First everything is taken away, by name from those to whom a platform's default
-- privileges may have given something; then exactly this is given. The archive's partitions that are made later get theirs from
-- outbox.protect_archive_table(), which says the same.
--
-- Nobody but the owner writes a table: the definer functions below are the only way in. Functions that are not named here
-- are internal and run only inside those.
do $$
declare
  v_schema text;
  v_who text;
begin
  select string_agg(quote_ident(r.rolname), ', ') into v_who
    from pg_roles r
   where r.rolname in ('anon', 'authenticated', 'service_role', 'headroom_ingest', 'headroom_executor', 'headroom_control', 'headroom_auditor');
  foreach v_schema in array array['outbox', 'payments', 'headroom'] loop
    continue when to_regnamespace(v_schema) is null;
    execute format('revoke all on schema %I from public, %s', v_schema, v_who);
    execute format('revoke all on all tables in schema %I from public, %s', v_schema, v_who);
    execute format('revoke all on all sequences in schema %I from public, %s', v_schema, v_who);
    execute format('revoke all on all functions in schema %I from public, %s', v_schema, v_who);
  end loop;
end
$$;
-- What is made later is not for everybody either.
alter default privileges revoke all on functions from public;

-- Ingest enqueues, and nothing else.
grant usage on schema outbox, payments to headroom_ingest;
grant execute on function
  outbox.enqueue(text, text, text, text, text, jsonb, integer, timestamptz, timestamptz, text, text, jsonb, jsonb),
  outbox.enqueue_many(jsonb),
  payments.enqueue_payment_outbox(text, text, text, text, jsonb)
to headroom_ingest;

-- The executor runs relays.
grant usage on schema outbox to headroom_executor;
grant select on
  outbox.streams, outbox.rails, outbox.relays, outbox.destinations, outbox.pending, outbox.pending_unordered, outbox.attempts
to headroom_executor;
grant execute on function
  outbox.claim(integer, smallint, integer, integer, bigint),
  outbox.settle(smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], text[], bigint[], boolean[], boolean[], integer[], jsonb),
  outbox.reap(integer),
  outbox.sweep(integer),
  outbox.next_due(smallint[]),
  outbox.start_relay(text),
  outbox.note_relay(integer, text, boolean),
  outbox.stop_relay(integer),
  outbox.captured(bigint[]),
  outbox.register_rail(text, text, integer, bigint),
  outbox.ensure_partitions(integer),
  outbox.gc(integer),
  outbox.list_streams(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status()
to headroom_executor;

-- Control reads everything and works dead letters.
grant usage on schema outbox, payments to headroom_control;
grant select on all tables in schema outbox, payments to headroom_control;
grant execute on function
  outbox.list_streams(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status(),
  outbox.inspect(uuid),
  outbox.list_dead(text, text, timestamptz, timestamptz, boolean, integer, uuid),
  outbox.count_dead(text, text, timestamptz, timestamptz, boolean),
  outbox.redrive(uuid[], text, text, boolean),
  outbox.skip(uuid[], text, text),
  outbox.resolve(uuid, boolean, text, text, text),
  outbox.erase_payload(uuid, text, text),
  outbox.create_stream(text, boolean, text, boolean, boolean, integer, integer, real, integer, integer, integer, integer, text, integer),
  outbox.limit_destination(text, integer, integer, integer),
  outbox.register_rail(text, text, integer, bigint)
to headroom_control;

-- Auditors read all but the allocators of numbers, and change nothing.
grant usage on schema outbox, payments to headroom_auditor;
grant select on all tables in schema outbox, payments to headroom_auditor;
revoke select on outbox.lanes, payments.participant_outbox_sequences from headroom_auditor;
grant execute on function
  outbox.list_streams(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status(),
  outbox.inspect(uuid),
  outbox.list_dead(text, text, timestamptz, timestamptz, boolean, integer, uuid),
  outbox.count_dead(text, text, timestamptz, timestamptz, boolean)
to headroom_auditor;

-- The archive's partitions: those who may read the whole may read each part.
do $$
declare
  v_table regclass;
begin
  for v_table in select t.relid from pg_partition_tree('outbox.attempts') t where t.level > 0 loop
    execute format('grant select on %s to headroom_executor, headroom_control, headroom_auditor', v_table);
  end loop;
end
$$;
