-- Every enqueued row that is still known, by stream, instruction and idempotency key. Its payload may have been collected or erased
-- meanwhile. The planner leaves out the outer joins when a query does not ask for their columns.
create or replace view outbox.rows as
select d.stream_id, s.name as stream, d.instruction_id, d.idempotency_key, d.outbox_id, d.created_at, d.salt is not null as salted,
       m.outbox_id is not null as kept,
       (m.stream_id, m.instruction_id, m.idempotency_key)
         is not distinct from (d.stream_id, d.instruction_id, d.idempotency_key) as kept_as_named,
       m.tenant_id, m.payload, m.seq, r.name as rail
  from outbox.dedupe d
  left join outbox.streams s on s.stream_id = d.stream_id
  left join outbox.payloads m on m.outbox_id = d.outbox_id
  left join outbox.rails r on r.rail_id = m.rail_id;
comment on view outbox.rows is 'Rows by stream, instruction and idempotency key. kept: whether the row itself is still there.';
