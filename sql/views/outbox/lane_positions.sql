-- The position of each lane: its next number, whether it ever delivered anything, and when that was last. There is no time for deliveries
-- that were collected before lanes recorded it.
--
-- The head is looked up by its key and not joined: under a plan that was made while few lanes were active, the join read all of them for
-- each lane that was asked for.
create or replace view outbox.lane_positions as
select s.name as stream, l.key, l.next_seq,
       l.delivered_to is not null or (select h.delivered_to from outbox.heads h where h.lane_id = l.lane_id) is not null as delivered,
       greatest(l.delivered_at, (select h.delivered_at from outbox.heads h where h.lane_id = l.lane_id)) as delivered_at
  from outbox.lanes l
  join outbox.streams s on s.stream_id = l.stream_id;
comment on view outbox.lane_positions is 'The next number of each lane, and when it last delivered anything.';
