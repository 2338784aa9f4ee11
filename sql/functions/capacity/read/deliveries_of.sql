-- Every message that a request caused, and where it is: one entry for each side effect that an event or a notice names, and for each
-- message that notifies people of it, which may cover several. An endpoint of
-- the request's own workspace is also shown by name; names of the installation's endpoints are hidden. Claim numbers are left out,
-- because they count the rows of all workspaces.
--
-- Written so that no plan scans a whole table: a plan made while the tables were small is kept.
create or replace function capacity.deliveries_of(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return (
    with found as materialized (
      select w.effect, w.seq, w.notice_id, w.ord, d.rail, d.outbox_id, d.created_at, d.tenant_id
        from (select e.request_id || '#' || e.seq as instruction_id, e.seq, null::bigint as notice_id, f.effect, f.ord
                from capacity.events e cross join lateral unnest(e.effects) with ordinality f(effect, ord) where e.request_id = p_request_id
              union all
              select n.request_id || '!' || n.id, null, n.id, f.effect, f.ord
                from capacity.notices n cross join lateral unnest(n.effects) with ordinality f(effect, ord)
                  where n.request_id = p_request_id) w
        join lateral (
             select d.outbox_id, d.rail, d.created_at, d.tenant_id from outbox.rows d
              where d.stream_id = (select outbox.stream_id('capacity')) and d.instruction_id = w.instruction_id
                and d.idempotency_key = w.effect
             union all
             select d.outbox_id, d.rail, d.created_at, d.tenant_id
               from notify.notifications t
               join notify.parts p on p.notification_id = t.id and p.delivery_id is not null
               join notify.deliveries m on m.id = p.delivery_id
               join outbox.rows d on d.stream_id = (select outbox.stream_id('people')) and d.instruction_id = m.id::text
                and d.idempotency_key = m.channel and d.outbox_id = m.outbox_id
              where starts_with(w.effect, 'tell:') and t.about = p_request_id
                and split_part(t.idempotency_key, ':', 1) = w.instruction_id || '/' || substr(w.effect, 6)) d on true)
    select coalesce(jsonb_agg(jsonb_build_object('effect', f.effect, 'event_seq', f.seq, 'notice_id', f.notice_id, 'rail', f.rail,
                                                 'outbox_id', f.outbox_id, 'enqueued_at', f.created_at)
                              || coalesce((select jsonb_build_object('endpoint', p.name) from webhooks.endpoints p
                                            where f.effect = 'event:' || p.id and p.tenant_id = f.tenant_id), '{}')
                              || (l.places -> f.outbox_id::text) - 'claim_id'
                              order by f.created_at, f.notice_id nulls first, f.seq, f.ord), '[]')
      from found f
     -- Evaluated once, not per message: that is the purpose of the offset.
     cross join (select outbox.places_of(array(select distinct g.outbox_id from found g)) as places offset 0) l
  );
end
$$;
comment on function capacity.deliveries_of(text) is 'The messages of a request with their places.';
