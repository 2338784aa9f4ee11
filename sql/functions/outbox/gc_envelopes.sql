-- Forgets events whose deliveries are all finished and past the retention of their stream, and secrets of endpoints that have run out.
-- Returns how many events.
create or replace function outbox.gc_envelopes(p_batch integer) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows integer;
begin
  perform outbox.drop_endpoint_secrets(array_agg(k.secret_id)) from outbox.endpoint_secrets k where k.expires_at <= now();
  with old as materialized (
    select e.id
      from outbox.streams s
      join outbox.retention_classes c on c.class_id = s.class_id
      join outbox.envelopes e on e.stream_id = s.stream_id and e.created_at < now() - make_interval(days => c.retain_days)
     where c.retain_days is not null and e.outbox_ids is not null
       and not exists (select from unnest(e.outbox_ids) o(id)
                        where exists (select from outbox.dead x where x.outbox_id = o.id)
                           or exists (select from outbox.payloads m join outbox.pending p on p.lane_id = m.lane_id and p.seq = m.seq
                                       where m.outbox_id = o.id))
     limit p_batch
  )
  delete from outbox.envelopes e where e.id in (select o.id from old o);
  get diagnostics v_rows = row_count;
  return v_rows;
end
$$;
comment on function outbox.gc_envelopes(integer) is 'Deletes events past their time and returns how many.';
