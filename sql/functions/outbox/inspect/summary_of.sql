-- What became of some rows of ordered streams together: how many there are, wait and failed (given up, or skipped), the most tries that
-- one took, and when the last was delivered. A row whose record has been collected was delivered: nothing else is collected.
create or replace function outbox.summary_of(p_outbox_ids uuid[])
returns table (deliveries bigint, pending bigint, failed bigint, sent_at timestamptz, tries bigint)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select count(*), count(p.outbox_id), count(*) filter (where x.outbox_id is not null or a.skipped), max(a.sent_at), max(a.tries)
    from unnest(p_outbox_ids) o(id)
    left join outbox.payloads m on m.outbox_id = o.id
    left join outbox.pending p on p.lane_id = m.lane_id and p.seq = m.seq
    left join outbox.dead x on x.outbox_id = o.id
   cross join lateral (
         select count(*) filter (where l.state = 'DISPATCHING') - count(*) filter (where l.state = 'RELEASED') as tries,
                max(l.recorded_at) filter (where l.state in ('DISPATCHED', 'RESOLVED')) as sent_at, bool_or(l.state = 'SKIPPED') as skipped
           from outbox.attempts l where l.outbox_id = o.id and l.class_id = get_byte(uuid_send(o.id), 7)) a
$$;
comment on function outbox.summary_of(uuid[]) is 'What became of some rows together. Nullable: sent_at, tries.';
