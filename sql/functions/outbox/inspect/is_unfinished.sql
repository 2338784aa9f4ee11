-- Whether any of these rows still waits, or was given up and waits for an operator.
create or replace function outbox.is_unfinished(p_outbox_ids uuid[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from unnest(p_outbox_ids) o(id)
                  where exists (select from outbox.dead x where x.outbox_id = o.id)
                     or exists (select from outbox.pending_unordered u where u.outbox_id = o.id)
                     or exists (select from outbox.payloads m join outbox.pending p on p.lane_id = m.lane_id and p.seq = m.seq
                                 where m.outbox_id = o.id))
$$;
comment on function outbox.is_unfinished(uuid[]) is 'Whether any of these rows is still waiting or dead.';
