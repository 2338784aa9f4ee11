-- Every message that a request caused, and where it is: one entry for each side effect that an event or a notice names. Under which claim a
-- relay has it is left out: claims are counted for the whole installation.
create or replace function capacity.deliveries_of(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('effect', w.effect, 'event_seq', w.seq, 'notice_id', w.notice_id, 'rail', r.name,
                                                 'outbox_id', d.outbox_id, 'enqueued_at', d.created_at)
                              || case when m.outbox_id is null then '{"place": "collected"}' else outbox.whereabouts(m, s) - 'claim_id' end
                              order by d.created_at, w.notice_id nulls first, w.seq, w.ord), '[]')
      from (select e.request_id || '#' || e.seq as instruction_id, e.seq, null::bigint as notice_id, f.effect, f.ord
              from capacity.events e cross join lateral unnest(e.effects) with ordinality f(effect, ord) where e.request_id = p_request_id
            union all
            select n.request_id || '!' || n.id, null, n.id, f.effect, f.ord
              from capacity.notices n cross join lateral unnest(n.effects) with ordinality f(effect, ord) where n.request_id = p_request_id) w
      join outbox.streams s on s.name = 'capacity'
      join outbox.dedupe d on d.stream_id = s.stream_id and d.instruction_id = w.instruction_id and d.idempotency_key = w.effect
      left join outbox.payloads m on m.outbox_id = d.outbox_id
      left join outbox.rails r on r.rail_id = m.rail_id
  );
end
$$;
comment on function capacity.deliveries_of(text) is 'The messages of a request with their places.';
