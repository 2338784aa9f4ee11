-- Every message that a request caused, and where it is: one entry for each side effect that an event or a notice names, and for each
-- message that tells people of it, which may tell of several. An endpoint of
-- the request's own workspace is shown by its name too; names of the installation's endpoints are not shown. Claim numbers are left out,
-- because they count the rows of all workspaces.
create or replace function capacity.deliveries_of(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('effect', w.effect, 'event_seq', w.seq, 'notice_id', w.notice_id, 'rail', d.rail,
                                                 'outbox_id', d.outbox_id, 'enqueued_at', d.created_at)
                              || coalesce((select jsonb_build_object('endpoint', p.name) from webhooks.endpoints p
                                            where w.effect = 'event:' || p.id and p.tenant_id = d.tenant_id), '{}')
                              || (outbox.place_of(d.outbox_id) - 'claim_id')
                              order by d.created_at, w.notice_id nulls first, w.seq, w.ord), '[]')
      from (select e.request_id || '#' || e.seq as instruction_id, e.seq, null::bigint as notice_id, f.effect, f.ord
              from capacity.events e cross join lateral unnest(e.effects) with ordinality f(effect, ord) where e.request_id = p_request_id
            union all
            select n.request_id || '!' || n.id, null, n.id, f.effect, f.ord
              from capacity.notices n cross join lateral unnest(n.effects) with ordinality f(effect, ord)
                where n.request_id = p_request_id) w
      join lateral (
           select d.outbox_id, d.rail, d.created_at, d.tenant_id from outbox.rows d
            where d.stream = 'capacity' and d.instruction_id = w.instruction_id and d.idempotency_key = w.effect
           union all
           select d.outbox_id, d.rail, d.created_at, d.tenant_id
             from notify.notifications t
             join notify.parts p on p.notification_id = t.id and p.delivery_id is not null
             join notify.deliveries m on m.id = p.delivery_id
             join outbox.rows d on d.stream = 'people' and d.outbox_id = m.outbox_id
            where starts_with(w.effect, 'tell:') and t.about = p_request_id
              and split_part(t.idempotency_key, ':', 1) = w.instruction_id || '/' || substr(w.effect, 6)) d on true
  );
end
$$;
comment on function capacity.deliveries_of(text) is 'The messages of a request with their places.';
