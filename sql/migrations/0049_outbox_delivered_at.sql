-- What a lane delivered last stands in the lane: asked of the archive, it opened every partition, of which there are more each month.
--
-- In the order in which relays take the tables, so that neither waits for the other for ever. The lock on streams also keeps relays from
-- finishing rows that the migrations after this one read the archive for.
-- Rows without order have no lane that could say so. A layer above that asks what became of them is told, and keeps it.
alter table outbox.streams
  add column followed boolean not null default false,
  add constraint streams_followed_without_order check (not (followed and ordered));
comment on column outbox.streams.followed
  is 'Layers above are told of rows that were delivered or skipped (hook outbox.finished). For streams without order.';

alter table outbox.heads add column delivered_at timestamptz;
alter table outbox.lanes add column delivered_at timestamptz;
comment on column outbox.lanes.delivered_at
  is 'When a row of the lane was last delivered, as known when it last went idle; an active lane''s head knows better.';
comment on column outbox.heads.delivered_at is 'When a row was last delivered since the lane became active.';

-- A row that a person says arrived did so when it was last tried, which is the line before.
update outbox.lanes l set delivered_at = d.at
  from (select m.lane_id,
               max(case when a.state = 'DISPATCHED' then a.recorded_at
                        else (select b.recorded_at from outbox.attempts b
                               where b.outbox_id = a.outbox_id and b.attempt_no = a.attempt_no - 1 and b.class_id = a.class_id) end) as at
          from outbox.attempts a
          join outbox.payloads m on m.outbox_id = a.outbox_id
         where m.lane_id is not null and (a.state = 'DISPATCHED' or a.state = 'RESOLVED' and a.rail_code = 'delivered')
         group by m.lane_id) d
 where d.lane_id = l.lane_id;

drop function if exists outbox.last_delivered_at(smallint, text[], text);
drop function if exists outbox.advance_lanes(bigint[], bigint[], boolean, tid[]);
