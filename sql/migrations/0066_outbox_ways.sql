-- What waits on a stream waits by its way: the rail, and who wrote it. A claim takes from the ways that its relay serves, one writer after
-- the other, so what nobody serves, or what somebody else has piled up, costs the others nothing.
create table outbox.ways (
  way_id integer generated always as identity primary key,
  stream_id smallint not null,
  rail_id smallint not null,
  writer text not null
);
create index ways_by_name on outbox.ways (stream_id, rail_id, writer, way_id);
comment on table outbox.ways
  is 'How rows of a stream go, and who wrote them. Producers add to it and change nothing; two who are first at once make two.';
comment on column outbox.ways.writer
  is 'The role that enqueued; empty for our own functions, "?" for applications'' rows from before ways were known.';

alter table outbox.heads add column way_id integer not null default 0;
alter table outbox.pending add column way_id integer not null default 0;
alter table outbox.pending_unordered add column way_id integer not null default 0;
alter table outbox.payloads add column way_id integer not null default 0;
comment on column outbox.payloads.way_id is 'Zero for rows that were finished before ways were known.';

-- Rows that are not finished get their way. Before, a tenant was what told our own rows from others.
with unfinished as materialized (
  select m.outbox_id, m.stream_id, m.rail_id, case when m.tenant_id is null then '?' else '' end as writer
    from outbox.payloads m
   where m.outbox_id in (select p.outbox_id from outbox.pending p
                         union all select u.outbox_id from outbox.pending_unordered u
                         union all select d.outbox_id from outbox.dead d
                         union all select unnest(c.outbox_ids) from outbox.claims c)
), way as (
  insert into outbox.ways (stream_id, rail_id, writer)
  select distinct u.stream_id, u.rail_id, u.writer from unfinished u
  returning *
)
update outbox.payloads m set way_id = w.way_id
  from unfinished u join way w using (stream_id, rail_id, writer) where m.outbox_id = u.outbox_id;
update outbox.pending p set way_id = m.way_id from outbox.payloads m where m.outbox_id = p.outbox_id;
update outbox.pending_unordered u set way_id = m.way_id from outbox.payloads m where m.outbox_id = u.outbox_id;
update outbox.heads h set way_id = p.way_id
  from (select distinct on (p.lane_id) p.lane_id, p.way_id
          from outbox.pending p join outbox.heads o on o.lane_id = p.lane_id and p.seq >= o.head_seq order by p.lane_id, p.seq) p
 where p.lane_id = h.lane_id;

drop index outbox.heads_due;
create index heads_due on outbox.heads (stream_id, way_id, destination_id, priority, due) where claim_id is null and not blocked;
drop index outbox.pending_unordered_due;
create index pending_unordered_due on outbox.pending_unordered (stream_id, way_id, destination_id, priority, due);

-- A relay serves the streams that it names; those of the migrations have one name together. Later ones are marked when they are made.
alter table outbox.streams add column built_in boolean not null default false;
comment on column outbox.streams.built_in is 'Made by Headroom''s migrations.';
update outbox.streams set built_in = true
 where name in ('alerts', 'billing', 'capacity', 'interactions', 'ledger', 'notifications', 'payments', 'people', 'provisioning', 'refunds',
                'self-service', 'subscriptions', 'transfers');

-- They take ways now, or are not asked any more.
drop function if exists outbox.barred_rails(smallint, boolean);
drop function if exists outbox.waiting_queues(outbox.streams, timestamptz, integer, integer);
drop function if exists outbox.open_queues(outbox.streams, timestamptz, jsonb, boolean);
drop function if exists outbox.claim_queues(integer, outbox.streams, integer, bigint, timestamptz, jsonb);
