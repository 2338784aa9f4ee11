-- The history of one row, line by line, in order. A relay's name is shown as long as the relay's entry exists.
create or replace function outbox.lines_of(p_outbox_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'attempt_no', a.attempt_no, 'state', a.state, 'recorded_at', a.recorded_at, 'relay_id', a.relay_id, 'relay', r.name,
           'claim_id', a.claim_id, 'latency_ms', a.latency_ms, 'uncertain', nullif(a.uncertain, false),
           'out_of_order', nullif(a.out_of_order, false),
           'rail_reference', a.rail_reference, 'rail_code', a.rail_code, 'error_code', a.error_code,
           'error_message', coalesce(w.message, a.error_message),
           'actor', a.actor, 'reason', a.reason)) order by a.attempt_no), '[]')
    from outbox.attempts a
    left join outbox.relays r on r.relay_id = a.relay_id
    left join outbox.answers w on w.outbox_id = a.outbox_id and w.attempt_no = a.attempt_no
   where a.outbox_id = p_outbox_id and a.class_id = get_byte(uuid_send(p_outbox_id), 7);
$$;
comment on function outbox.lines_of(uuid) is 'All archive lines of a row as JSON.';
