-- Everything that is known about one row, for a person: its facts, its payload, where it is, what it waits for, and every line of its
-- history, all from one snapshot.
create or replace function outbox.inspect(p_outbox_id uuid) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row jsonb;
  v_lines jsonb := outbox.lines_of(p_outbox_id);
begin
  select jsonb_strip_nulls(jsonb_build_object(
           'outbox_id', m.outbox_id, 'stream', s.name, 'ordered', s.ordered, 'key', coalesce(l.key, m.key), 'seq', m.seq, 'rail', r.name,
           'instruction_id', m.instruction_id, 'idempotency_key', m.idempotency_key, 'priority', m.priority,
           'destination', t.name, 'coalesce_key', m.coalesce_key,
           'created_at', m.created_at, 'expires_at', m.expires_at, 'payload_hash', encode(m.payload_hash, 'hex'),
           'erased', case when m.erased_at is not null then
             jsonb_build_object('at', m.erased_at, 'by', m.erased_by, 'reason', m.erase_reason) end))
         || w.place
         || case when w.place ->> 'place' = 'pending' and not w.place ? 'waits_for'
                 then jsonb_strip_nulls(jsonb_build_object(
                        'held_by', coalesce(outbox.not_granted(m), outbox.held_by(m.rail_id, t.name), outbox.locked_by(m, t.name))))
                 else '{}' end
         || jsonb_build_object('payload', m.payload, 'captures', m.captures, 'binds', m.binds, 'captured', c.captured, 'lines', v_lines)
    into v_row
    from outbox.payloads m
    join outbox.streams s on s.stream_id = m.stream_id
    join outbox.rails r on r.rail_id = m.rail_id
   cross join lateral (select outbox.place_of_row(m, outbox.last_line(m.outbox_id, s.class_id), true) as place) w
    left join outbox.lanes l on l.lane_id = m.lane_id
    left join outbox.destinations t on t.destination_id = m.destination_id
    left join lateral (select jsonb_object_agg(c.name, c.value) as captured
                         from outbox.captures c where c.lane_id = m.lane_id and c.outbox_id = m.outbox_id) c on true
   where m.outbox_id = p_outbox_id;
  if found then
    return v_row;
  end if;

  -- Collected: only the dedupe table and perhaps the archive still have it. No index there leads from the id, so this reads the table.
  select jsonb_build_object('outbox_id', d.outbox_id, 'stream', s.name, 'ordered', s.ordered, 'instruction_id', d.instruction_id,
                            'idempotency_key', d.idempotency_key, 'created_at', d.created_at, 'payload_hash', encode(d.payload_hash, 'hex'),
                            'payload', null, 'place', 'collected', 'lines', v_lines)
    into v_row
    from outbox.dedupe d join outbox.streams s on s.stream_id = d.stream_id
   where d.outbox_id = p_outbox_id;
  if not found then
    perform headroom.fail('not_found', format('There is no row %s.', p_outbox_id), null,
      'Check the id. Rows that were finished long ago are collected by outbox.gc(), and then forgotten.');
  end if;
  return v_row;
end
$$;
comment on function outbox.inspect(uuid) is 'Facts, payload, place and complete history of one row.';
