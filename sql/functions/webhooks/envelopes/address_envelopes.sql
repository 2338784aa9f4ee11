-- Makes the deliveries of the events that a transaction published: one row for each enabled endpoint whose topics match the event. A
-- deferred trigger runs it once, at the end of the transaction, for all of its events. So the lanes' numbers are held only for a moment,
-- all transactions take them in the same order, and two applications whose events have subjects in common never deadlock. Events that are
-- visible and not addressed yet belong to this transaction: other transactions' uncommitted rows cannot be seen, and committed ones are
-- addressed.
--
-- A lane per endpoint and subject; events without a subject keep the order of their source.
--
-- First the events themselves are taken, in the order of their sources and ids: if another transaction has published the same event since
-- it was inserted here, theirs stays. Only an event with different content is refused here, which no insert could see.
--
-- In parts that are also bounded by their bytes: inside the database JSON takes up to five times its text, and one value at most 256 MB.
create or replace function webhooks.address_envelopes() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_part record;
  v_ord bigint;
  v_ords bigint[];
begin
  if not exists (select from webhooks.envelopes e where e.ord = new.ord and e.outbox_ids is null) then
    return null;
  end if;
  loop
    v_ords := '{}';
    begin
      for v_ord in select e.ord from webhooks.envelopes e where e.outbox_ids is null order by e.stream_id, e.instruction_id loop
        update webhooks.envelopes e set outbox_ids = '{}' where e.ord = v_ord;
        v_ords := v_ords || v_ord;
      end loop;
      exit;
    exception when unique_violation then
      perform webhooks.yield_events();
    end;
  end loop;
  for v_part in
    select array_agg(d.ord order by d.n) as ords,
           jsonb_agg(jsonb_build_object(
             'stream', d.stream, 'key', d.key, 'instruction_id', d.instruction_id, 'idempotency_key', d.endpoint_id, 'rail', 'webhook',
             'destination', 'endpoint:' || d.endpoint_id, 'payload', d.payload) order by d.n) as rows
      from (select e.ord, e.instruction_id, e.payload, s.name as stream, p.id as endpoint_id, k.key,
                   row_number() over w - 1 as n, sum(octet_length(e.payload::text)) over w as bytes
              from webhooks.envelopes e
              join outbox.stream_settings s on s.stream_id = e.stream_id
              join webhooks.endpoints p on p.enabled and p.tenant_id is null and webhooks.topic_matches(p.topics, s.name, e.type)
             cross join lateral (select p.id || ':' || coalesce(e.subject, e.payload ->> 'source')) k(key)
             where e.ord = any (v_ords)
            window w as (order by s.stream_id, k.key, e.ord)) d
     group by d.n / 1000, d.bytes / 16000000 order by d.n / 1000, d.bytes / 16000000
  loop
    update webhooks.envelopes e set outbox_ids = e.outbox_ids || a.outbox_ids
      from (select v_part.ords[m.ord] as ord, array_agg(m.outbox_id order by m.ord) as outbox_ids
              from outbox.add_rows(false, v_part.rows) m group by v_part.ords[m.ord]) a
     where e.ord = a.ord;
  end loop;
  return null;
end
$$;
comment on function webhooks.address_envelopes() is 'Enqueues the deliveries of the events that a transaction published.';
