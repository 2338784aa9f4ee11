-- What became of messages, so that nobody who decides or lists something asks the archive for it. Only inserted, where a relay or an
-- operator finishes a row: a column of notify.deliveries would make them wait for whoever holds that row.
create table notify.settled (
  outbox_id uuid primary key,
  sent boolean not null,
  at timestamptz not null
);
comment on table notify.settled
  is 'Messages that are finished: a channel took them, or they were skipped. Kept as long as notify.deliveries.';
comment on column notify.settled.sent is 'Whether the channel took it. False: it was skipped, by an operator or because it came too late.';

-- What there is, from the archive; a new installation has neither messages nor the engine's views yet. When one was skipped nobody asks.
do $$
begin
  if to_regclass('outbox.deliveries') is not null then
    insert into notify.settled (outbox_id, sent, at)
    select d.outbox_id, not o.failed, coalesce(o.sent_at, d.released_at)
      from notify.deliveries d join outbox.deliveries o on o.outbox_id = d.outbox_id
     where case when o.failed then not exists (select from outbox.dead_letters x where x.outbox_id = d.outbox_id)
                else o.sent_at is not null end;
  end if;
end
$$;
