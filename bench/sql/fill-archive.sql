-- Lines of rows delivered long ago, written directly to the archive: two per row, in the order in which relays would
-- have written them. The ids carry times between the start of the oldest partition and an hour ago, so that old lines
-- share their partition with new ones; that is the worst case. $1 first row, $2 last row, $3 total rows, $4 stream.
insert into outbox.attempts
  (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, recorded_at, latency_ms, payload_hash, rail_code)
select old.id, line.no, old.class_id, old.stream_id, line.state, 1, old.g / 500, old.at, 3,
       case when line.no = 1 then sha256(int8send(old.g)) end, case when line.no = 2 then '200' end
  from (
    select g, at, s.stream_id, s.class_id,
           encode(set_byte(set_byte(
             overlay(uuid_send(gen_random_uuid())
                     placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6),
             6, 112), 7, s.class_id), 'hex')::uuid as id
      from outbox.streams s
      join outbox.retention_classes c using (class_id)
     cross join lateral (
             select to_timestamp(floor(extract(epoch from now()) / 86400 / c.partition_days - 1) * c.partition_days * 86400) as since
           ) oldest
     cross join generate_series($1::bigint, $2::bigint) g
     cross join lateral (
             select oldest.since + (now() - interval '1 hour' - oldest.since) * (g::float8 / $3::float8) as at
           ) moment
     where s.name = $4
     order by g
  ) old
 cross join (values (1, 'DISPATCHING'::outbox.attempt_state), (2, 'DISPATCHED')) line(no, state)
