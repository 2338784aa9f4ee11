-- Erases what finished rows carried, and what was answered to them, where the partition must stay because of other rows: a dead letter
-- keeps its partition, but not its neighbours' payloads beyond their retention. Their lines and hashes stay with the partition. Returns how
-- many, at most p_limit.
create or replace function outbox.empty_finished(p_class_id smallint, p_from uuid, p_to uuid, p_retain_days integer, p_limit integer)
  returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_rows integer;
begin
  with emptied as (
    update outbox.payloads m
       set payload = null, erased_at = now(), erased_by = 'headroom', erase_reason = 'Its retention is over.'
     where m.outbox_id in (
             select o.outbox_id from outbox.payloads o
              where o.outbox_id >= p_from and o.outbox_id < p_to and get_byte(uuid_send(o.outbox_id), 7) = p_class_id
                and o.erased_at is null
                and not exists (select from outbox.dead d where d.outbox_id = o.outbox_id)
                and not exists (select from outbox.pending p where p.lane_id = o.lane_id and p.seq = o.seq)
                and not exists (select from outbox.pending_unordered u where u.outbox_id = o.outbox_id)
                and not exists (select from outbox.claims c where o.outbox_id = any (c.outbox_ids))
                and not exists (select from outbox.attempts a
                                 where a.outbox_id = o.outbox_id and a.class_id = p_class_id
                                   and a.recorded_at >= now() - make_interval(days => p_retain_days))
              limit p_limit)
    returning m.outbox_id
  ), unsaid as (
    delete from outbox.answers a using emptied e where a.outbox_id = e.outbox_id
  )
  select count(*) into v_rows from emptied e;
  return v_rows;
end
$$;
comment on function outbox.empty_finished(smallint, uuid, uuid, integer, integer)
  is 'Erases payloads past their retention in a partition that stays, and counts them.';
