-- Where each lane stands: its next number, whether anything of it was ever delivered, and when that was last. Of what was delivered and
-- collected before lanes knew it, there is no time.
create or replace view outbox.lane_positions as
select s.name as stream, l.key, l.next_seq, l.delivered_to is not null or h.delivered_to is not null as delivered,
       greatest(l.delivered_at, h.delivered_at) as delivered_at
  from outbox.lanes l
  join outbox.streams s on s.stream_id = l.stream_id
  left join outbox.heads h on h.lane_id = l.lane_id;
comment on view outbox.lane_positions is 'The next number of each lane, and when it last delivered anything.';
