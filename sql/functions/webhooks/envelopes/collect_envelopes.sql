-- Hook of outbox.collected: forgets events whose deliveries are all finished and past the retention of their stream, and secrets of
-- endpoints that have run out. "offset 0" limits the lookups to events past their time: otherwise each event that is kept would be looked
-- up among the pending rows, every time.
create or replace function webhooks.collect_envelopes(p_argument jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch integer := p_argument ->> 'batch';
  v_rows integer;
begin
  perform webhooks.drop_endpoint_secrets(array_agg(k.secret_id)) from webhooks.endpoint_secrets k where k.expires_at <= now();
  with old as materialized (
    select p.id
      from (select e.id, e.outbox_ids
              from outbox.stream_settings s
              join webhooks.envelopes e on e.stream_id = s.stream_id and e.created_at < now() - make_interval(days => s.retain_days)
             where s.retain_days is not null and e.outbox_ids is not null
            offset 0) p
     where not outbox.is_unfinished(p.outbox_ids)
     limit v_batch
  )
  delete from webhooks.envelopes e where e.id in (select o.id from old o);
  get diagnostics v_rows = row_count;
  return jsonb_build_object('envelopes', v_rows, 'more', v_rows = v_batch);
end
$$;
comment on function webhooks.collect_envelopes(jsonb) is 'Deletes events past their time and returns how many.';
