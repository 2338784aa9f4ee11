-- Rails that use the installation's own credentials are guarded: only rows of streams that were granted such a rail go by it. Kinds of
-- destinations whose limits and circuits are ours to keep may not be named by applications.
alter table outbox.rails add column guarded boolean not null default false;
comment on column outbox.rails.guarded
  is 'Uses credentials of the installation: only streams with a grant (stream_rails) may use it.';

create table outbox.stream_rails (
  stream_id smallint not null references outbox.streams,
  rail_id smallint not null references outbox.rails,
  leftover boolean not null default false,
  primary key (stream_id, rail_id)
);
create index stream_rails_rail on outbox.stream_rails (rail_id);
comment on table outbox.stream_rails is 'Which streams may use a guarded rail.';
comment on column outbox.stream_rails.leftover
  is 'Only for rows of a tenant, which our own functions wrote before they moved to another stream; nothing new is taken.';

create table outbox.reserved_kinds (
  kind text primary key check (length(kind) between 1 and 200)
);
comment on table outbox.reserved_kinds
  is 'Beginnings of destinations that only our own functions may name: their limits and circuits hold up our own messages.';
