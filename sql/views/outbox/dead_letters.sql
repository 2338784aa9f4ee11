-- Rows that were given up and wait for an operator.
create or replace view outbox.dead_letters as
select s.name as stream, l.key, d.outbox_id, d.seq, d.died_at, d.parked, d.error_code, d.uncertain
  from outbox.dead d
  join outbox.streams s on s.stream_id = d.stream_id
  left join outbox.lanes l on l.lane_id = d.lane_id and l.stream_id = d.stream_id;
comment on view outbox.dead_letters is 'Rows that were given up, by stream and key.';
