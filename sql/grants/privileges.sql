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
  v_ours text;
begin
  select string_agg(quote_ident(r.rolname), ', ') into v_who
    from pg_roles r
   where r.rolname in ('anon', 'authenticated', 'service_role', 'authenticator', 'headroom_gateway',
                       'headroom_ingest', 'headroom_executor', 'headroom_control', 'headroom_auditor');
  foreach v_schema in array array['outbox', 'capacity', 'inbound', 'payments', 'ledger', 'headroom'] loop
    continue when to_regnamespace(v_schema) is null;
    execute format('revoke all on schema %I from public, %s', v_schema, v_who);
    execute format('revoke all on all tables in schema %I from public, %s', v_schema, v_who);
    execute format('revoke all on all sequences in schema %I from public, %s', v_schema, v_who);
    execute format('revoke all on all functions in schema %I from public, %s', v_schema, v_who);
  end loop;
  -- In public not everything is ours, so there it goes by owner.
  for v_ours in
    select format('function %s', p.oid::regprocedure) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.proowner = 'headroom_owner'::regrole
    union all
    select format('table %s', c.oid::regclass) from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relowner = 'headroom_owner'::regrole and c.relkind in ('r', 'p', 'v', 'm')
  loop
    execute format('revoke all on %s from public, %s', v_ours, v_who);
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

-- It publishes events too, and reads what became of them, but not what others said in theirs.
grant usage on schema ledger to headroom_ingest;
grant insert, select (id, status, created_at, sent_at, retry_count, deliveries) on payments.outbox_transfers, ledger.outbox_ledger to headroom_ingest;

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
  outbox.start_relay(text, text[]),
  outbox.note_relay(integer, text, boolean),
  outbox.stop_relay(integer),
  outbox.fill_binds(uuid[], jsonb),
  outbox.register_rail(text, text, integer, bigint),
  outbox.ensure_partitions(integer),
  outbox.gc(integer),
  outbox.list_streams(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status(),
  outbox.rail_status(),
  outbox.endpoint_for_relay(uuid, text),
  outbox.endpoint_gone(uuid, integer),
  outbox.raise_alerts()
to headroom_executor;

-- Control reads everything and works dead letters.
grant usage on schema outbox, payments, ledger to headroom_control;
grant select on all tables in schema outbox, payments, ledger to headroom_control;
revoke select on outbox.endpoint_secrets, outbox.alerts from headroom_control;
grant execute on function
  outbox.list_streams(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status(),
  outbox.rail_status(),
  outbox.inspect(uuid),
  outbox.list_dead(text, text, timestamptz, timestamptz, boolean, integer, uuid),
  outbox.count_dead(text, text, timestamptz, timestamptz, boolean),
  outbox.redrive(uuid[], text, text, boolean),
  outbox.skip(uuid[], text, text),
  outbox.resolve_dead(uuid, boolean, text, text, text),
  outbox.erase_payload(uuid, text, text),
  outbox.create_stream(text, boolean, text, boolean, boolean, integer, integer, real, integer, integer, integer, integer, text, integer, name[]),
  outbox.change_stream(text, jsonb),
  outbox.limit_destination(text, integer, integer, integer),
  outbox.clear_destination(text),
  outbox.register_rail(text, text, integer, bigint),
  outbox.list_endpoints(text),
  outbox.put_endpoint(text, jsonb, text, boolean, text),
  outbox.remove_endpoint(text, text),
  outbox.rotate_endpoint_secret(text, text, interval, text),
  outbox.enable_endpoint(text, text),
  outbox.disable_endpoint(text, text, text),
  outbox.ping_endpoint(text, text),
  outbox.replay_envelopes(text, timestamptz, timestamptz, text),
  outbox.list_alerts(),
  outbox.put_alert(text, jsonb),
  outbox.remove_alert(text)
to headroom_control;

-- Auditors read all but the allocators of numbers, and change nothing.
grant usage on schema outbox, payments, ledger to headroom_auditor;
grant select on all tables in schema outbox, payments, ledger to headroom_auditor;
revoke select on outbox.lanes, payments.participant_outbox_sequences, outbox.endpoint_secrets, outbox.alerts from headroom_auditor;
grant execute on function
  outbox.list_endpoints(text),
  outbox.list_streams(),
  outbox.status(),
  outbox.partition_status(),
  outbox.destination_status(),
  outbox.rail_status(),
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

-- The workflow. Members and machines read through the views of public, which run with the rights of who asks: hence the tables
-- and what the views and policies call, but never the schema, so that nothing in it can be named. Which rows: sql/policies/capacity.sql.
grant select on
  public.capacity_requests, public.capacity_request_events,
  public.capacity_approval_latency, public.capacity_backlog, public.capacity_outcomes, public.capacity_provisioning_duration,
  public.capacity_time_in_state
to authenticated, service_role, headroom_control, headroom_auditor;
grant select on
  capacity.requests, capacity.events, capacity.personal_data, capacity.free_texts, capacity.request_captures, capacity.workspaces, capacity.members,
  capacity.waits, capacity.parties
to authenticated, service_role;
grant execute on function
  capacity.last_notified_at(text, integer),
  capacity.unasked(text, public.capacity_request_state)
to authenticated, service_role, headroom_control, headroom_auditor;
grant execute on function
  capacity.reader_id(),
  capacity.reader_workspace(text[]),
  capacity.reader_roles(),
  capacity.reader_groups(),
  capacity.reader_owners(),
  capacity.reader_named()
to authenticated;
grant execute on function
  capacity.reader_stands()
to service_role;

-- What members do, machines do for them, and operators do at the command line. Each of these finds out who calls.
grant execute on function
  public.create_capacity_request(text, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text, text),
  public.preview_capacity_request(text, text, text, text, integer, text, numeric, text, text, jsonb),
  public.apply_capacity_event(text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer),
  public.decide_capacity_request(text, public.capacity_request_event_type, text, jsonb, integer),
  public.get_capacity_request(text),
  public.nudge_capacity_request(text, text),
  public.note_capacity_request(text, text, text),
  public.set_customer_address(text, text, text),
  public.send_confirmation_link(text, text),
  public.erase_customer(text, text, text)
to authenticated, service_role, headroom_control;

-- Admins keep the endpoints of their workspace, machines all of them.
grant execute on function
  public.list_endpoints(text),
  public.put_endpoint(text, text, text[], text, jsonb, text),
  public.remove_endpoint(text, text),
  public.rotate_endpoint_secret(text, integer, text),
  public.enable_endpoint(text, text),
  public.disable_endpoint(text, text, text)
to authenticated, service_role;

-- Whoever holds a confirmation link.
grant execute on function
  public.describe_confirmation(text),
  public.decide_by_token(text, text, text)
to anon, authenticated, service_role;

-- Who is signed in, and what happened lately. The latter runs with the caller's rights, so that row-level security decides what it tells.
grant execute on function
  public.who_am_i(),
  public.sign_out_everywhere()
to authenticated;
grant execute on function
  public.recent_capacity_events(bigint, integer)
to authenticated, service_role;

-- What our own server asks on nobody's behalf; a purpose that it alone can state guards these against the holders of service keys.
grant execute on function
  public.sign_in_member(text, text, text, boolean),
  public.list_personas(),
  public.webhook_keys(text),
  public.record_delivery(text, text, text, jsonb)
to service_role;

-- What providers send: the signature is the credential. And the gate before every request, which needs none.
grant execute on function
  public.handle_slack_webhook(text),
  public.handle_linear_webhook(text),
  public.check_request()
to anon, authenticated, service_role;

-- The executor sweeps, and makes a confirmation link at the moment of sending it.
grant usage on schema capacity to headroom_executor;
grant execute on function
  public.run_capacity_request_timers(integer, text)
to headroom_executor, headroom_control, service_role;
grant execute on function
  capacity.confirmation_token(uuid),
  capacity.note_timers_failed(text, text)
to headroom_executor;
grant execute on function
  capacity.timers_last_ran()
to headroom_executor, headroom_control, headroom_auditor;

-- Control keeps the directory, the policies and what is connected, and stores secrets, which it cannot read back.
grant usage on schema capacity to headroom_control;
grant select on all tables in schema capacity to headroom_control;
revoke select on capacity.secrets from headroom_control;
grant execute on function
  capacity.put_workspace(text, jsonb),
  capacity.put_member(text, text, jsonb),
  capacity.remove_member(text, text),
  capacity.put_group(text, text, text, text[], text[]),
  capacity.remove_group(text, text),
  capacity.put_policy(text, text, jsonb),
  capacity.remove_policy(text, text),
  capacity.put_subscription(text, text, jsonb),
  capacity.remove_subscription(text, text),
  capacity.put_linear_state(text, public.capacity_request_state, text),
  capacity.set_secret(text, text, boolean),
  capacity.remove_secret(text, boolean),
  capacity.list_secrets(),
  capacity.switch_sealing_key(),
  capacity.reseal_secrets(text, integer, boolean),
  capacity.put_identity(text, text, text, text),
  capacity.remove_identity(text, text),
  capacity.put_identity_domain(text, text, text),
  capacity.remove_identity_domain(text, text),
  capacity.put_api_key(text, text, text, text, timestamptz, text),
  capacity.revoke_api_key(text)
to headroom_control;

-- Auditors read all but secrets. Both they and control list and verify.
grant usage on schema capacity to headroom_auditor;
grant select on all tables in schema capacity to headroom_auditor;
revoke select on capacity.secrets from headroom_auditor;
grant execute on function
  capacity.list_api_keys(),
  capacity.list_identities(text, text),
  capacity.list_identity_domains(text),
  capacity.list_workspaces(),
  capacity.list_members(text, boolean),
  capacity.list_groups(text),
  capacity.list_policies(text),
  capacity.list_subscriptions(text),
  capacity.list_linear_states(text),
  capacity.workspace_needs(),
  capacity.list_requests(text, public.capacity_request_state[], text, text, integer, text),
  capacity.list_heads(text, integer, text),
  capacity.verify_extent(text),
  capacity.verify_requests(text, integer, text),
  capacity.verify_deliveries(uuid, integer),
  capacity.verify_keys(text, text, integer),
  capacity.verify_lanes(bigint, integer),
  capacity.verify_order(text),
  capacity.verify_heads(text[], integer[], text[])
to headroom_control, headroom_auditor;

-- What was received is read by control and auditors.
grant usage on schema inbound to headroom_control, headroom_auditor;
grant select on all tables in schema inbound to headroom_control, headroom_auditor;
