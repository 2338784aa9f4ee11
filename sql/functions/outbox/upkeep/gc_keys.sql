-- Forgets idempotency keys that are past their stream's days. The key of an unfinished row is kept: forgetting it would let the same intent
-- in twice.
create or replace function outbox.gc_keys(p_batch integer) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_rows integer;
begin
  with old as materialized (
    select d.ctid as tid
      from outbox.streams s
      join outbox.dedupe d on d.stream_id = s.stream_id and d.created_at < now() - make_interval(days => least(s.dedupe_days, 36500))
      left join outbox.payloads m on m.outbox_id = d.outbox_id
     where s.dedupe_days is not null
       and not exists (select from outbox.dead x where x.outbox_id = d.outbox_id)
       and not exists (select from outbox.pending p where p.lane_id = m.lane_id and p.seq = m.seq)
       and not exists (select from outbox.pending_unordered u where u.outbox_id = d.outbox_id)
       and (s.ordered or not exists (select from outbox.claims c where d.outbox_id = any (c.outbox_ids)))
     limit p_batch
  )
  delete from outbox.dedupe d where d.ctid in (select o.tid from old o);
  get diagnostics v_rows = row_count;
  return v_rows;
end
$$;
comment on function outbox.gc_keys(integer) is 'Deletes idempotency keys past their time and returns how many.';
