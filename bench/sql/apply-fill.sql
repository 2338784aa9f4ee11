-- Requests that wait for their commercial review: copies of one that was really submitted and delivered its first message, with
-- everything that belongs to it. Written in sets, column by column, so that a new column is copied too; only what distinguishes
-- requests is new. Their hashes form no chain, which nothing here checks.
create sequence bench.requests;

-- As long as a real id, in a year without requests.
create function bench.request_id(p_number bigint) returns text language sql immutable
return 'CR-2000-' || lpad(p_number::text, 6, '0');

-- The same prefix, which contains the time and the class, and the copy's number at the end.
create function bench.copy_id(p_id uuid, p_number bigint) returns uuid language sql immutable
return (left(p_id::text, 24) || lpad(to_hex(p_number), 12, '0'))::uuid;

create function bench.copy_rows(p_table regclass, p_rows text, p_changes jsonb, p_count integer) returns void language plpgsql as $$
declare
  v_columns text;
  v_values text;
begin
  select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
         string_agg(coalesce(p_changes ->> a.attname, 't.' || quote_ident(a.attname)), ', ' order by a.attnum)
    into v_columns, v_values
    from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = '';
  execute format('insert into %s (%s) overriding system value select %s from %1$s t, generate_series(1, $1) g where t.%4$s',
                 p_table, v_columns, v_values, p_rows) using p_count;
end
$$;

create function bench.copy_request(p_model text, p_count integer) returns void language plpgsql as $$
declare
  v_lane_id bigint := (select l.lane_id from outbox.lanes l where l.key = p_model || ':slack');
  v_of_request text := format('request_id = %L', p_model);
  v_of_lane text := format('lane_id = %s', v_lane_id);
  v_of_rows text := format('outbox_id in (select m.outbox_id from outbox.payloads m where m.lane_id = %s)', v_lane_id);
  v_of_told text := format('notification_id in (select n.id from notify.notifications n where n.about = %L)', p_model);
begin
  perform bench.copy_rows('capacity.requests', format('id = %L', p_model), '{"id": "bench.request_id(g)"}', p_count);
  perform bench.copy_rows('capacity.events', v_of_request, '{"request_id": "bench.request_id(g)", "id": "gen_random_uuid()"}', p_count);
  perform bench.copy_rows('capacity.personal_data', v_of_request, '{"request_id": "bench.request_id(g)"}', p_count);
  perform bench.copy_rows('capacity.request_captures', v_of_request, '{"request_id": "bench.request_id(g)", "value": "t.value || g"}', p_count);
  perform bench.copy_rows('outbox.captures', v_of_lane,
    '{"lane_id": "t.lane_id + g", "outbox_id": "bench.copy_id(t.outbox_id, g)"}', p_count);
  perform bench.copy_rows('outbox.dedupe', v_of_rows,
    '{"instruction_id": "bench.request_id(g) || ''#1''", "outbox_id": "bench.copy_id(t.outbox_id, g)"}', p_count);
  perform bench.copy_rows('outbox.attempts', v_of_rows, '{"outbox_id": "bench.copy_id(t.outbox_id, g)"}', p_count);
  perform bench.copy_rows('outbox.payloads', v_of_lane,
    '{"lane_id": "t.lane_id + g", "instruction_id": "bench.request_id(g) || ''#1''", "outbox_id": "bench.copy_id(t.outbox_id, g)"}', p_count);
  perform bench.copy_rows('outbox.lanes', v_of_lane, '{"lane_id": "t.lane_id + g", "key": "bench.request_id(g) || '':slack''"}', p_count);
  perform bench.copy_rows('notify.parts', v_of_told, '{"notification_id": "bench.copy_id(t.notification_id, g)"}', p_count);
  perform bench.copy_rows('notify.notifications', format('about = %L', p_model),
    '{"id": "bench.copy_id(t.id, g)", "about": "bench.request_id(g)", "idempotency_key": "bench.request_id(g) || substr(t.idempotency_key, 15)"}',
    p_count);
  perform setval(pg_get_serial_sequence('outbox.lanes', 'lane_id'), v_lane_id + p_count);
end
$$;
