-- Where each lane stands: its next number, whether anything of it was ever delivered, and when that was last. Of what was delivered and
-- collected before lanes knew it, there is no time.
--
-- The head is looked up by its key and not joined: by a plan that was made while few lanes were active, the join went through all of them
-- for each that was asked for.
create or replace view outbox.lane_positions as
select s.name as stream, l.key, l.next_seq,
       l.delivered_to is not null or (select h.delivered_to from outbox.heads h where h.lane_id = l.lane_id) is not null as delivered,
       greatest(l.delivered_at, (select h.delivered_at from outbox.heads h where h.lane_id = l.lane_id)) as delivered_at
  from outbox.lanes l
  join outbox.streams s on s.stream_id = l.stream_id;
comment on view outbox.lane_positions is 'The next number of each lane, and when it last delivered anything.';
