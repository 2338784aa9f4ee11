-- Grants of the schema `outbox`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('outbox');

-- Ingest enqueues, and nothing else.
grant usage on schema outbox to headroom_ingest;
grant execute on function
  outbox.enqueue(text, text, text, text, text, jsonb, integer, timestamptz, timestamptz, text, text, jsonb, jsonb),
  outbox.enqueue_many(jsonb)
to headroom_ingest;

-- The executor runs relays.
grant usage on schema outbox to headroom_executor;
grant select on
  outbox.streams, outbox.rails, outbox.relays, outbox.destinations, outbox.pending, outbox.pending_unordered, outbox.attempts
to headroom_executor;
grant execute on function
  outbox.claim(integer, smallint, integer, integer, bigint, bigint, jsonb),
  outbox.settle(smallint, outbox.row_outcome[]),
  outbox.reap(integer),
  outbox.sweep(integer),
  outbox.next_due(smallint[], jsonb),
  outbox.start_relay(text, text[], boolean),
  outbox.rail_credentials(text[]),
  outbox.note_relay(integer, text, boolean),
  outbox.stop_relay(integer),
  outbox.fill_binds(uuid[], jsonb),
  outbox.ensure_partitions(integer),
  outbox.gc(integer)
to headroom_executor;

-- Control reads everything and handles dead letters.
grant usage on schema outbox to headroom_control;
grant select on all tables in schema outbox to headroom_control;
grant execute on function
  outbox.redrive(uuid[], text, text, boolean),
  outbox.skip(uuid[], text, text),
  outbox.retry_now(uuid[], text, text),
  outbox.resolve_dead(uuid, boolean, text, text, text),
  outbox.erase_payload(uuid, text, text),
  outbox.create_stream(text, boolean, text, boolean, boolean, integer, integer, real, integer, integer, integer, integer, text, integer,
                       name[]),
  outbox.put_stream(text, jsonb),
  outbox.change_stream(text, jsonb),
  outbox.reset_stream(text, text[]),
  outbox.limit_destination(text, integer, integer, integer),
  outbox.clear_destination(text),
  outbox.reset_limits(text),
  outbox.grant_rail(text, text)
to headroom_control;
grant execute on function
  outbox.register_rail(text, text, integer, bigint)
to headroom_executor, headroom_control;

-- Auditors read everything except the allocators of numbers, and change nothing.
grant usage on schema outbox to headroom_auditor;
grant select on all tables in schema outbox to headroom_auditor;
revoke select on outbox.lanes, outbox.lane_positions from headroom_auditor;
grant execute on function
  outbox.inspect(uuid),
  outbox.list_dead(text, text, timestamptz, timestamptz, boolean, integer, uuid),
  outbox.count_dead(text, text, timestamptz, timestamptz, boolean),
  outbox.list_retries(text, text, text, integer, uuid),
  outbox.count_retries(text, text, text),
  outbox.verify_keys(text, text, text, integer),
  outbox.verify_lanes(bigint, integer),
  outbox.verify_order(text)
to headroom_control, headroom_auditor;
grant execute on function
  outbox.list_streams(),
  outbox.list_changed_settings(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status(),
  outbox.rail_status(),
  outbox.credential_status(),
  outbox.ungranted(),
  outbox.held_locks()
to headroom_executor, headroom_control, headroom_auditor;

-- The archive's partitions: roles that may read the whole may read each part. outbox.protect_archive_table() grants this on those that are
-- made later.
do $$
declare
  v_table regclass;
begin
  for v_table in select t.relid from pg_partition_tree('outbox.attempts') t where t.level > 0 loop
    execute format('grant select on %s to headroom_executor, headroom_control, headroom_auditor', v_table);
  end loop;
end
$$;
