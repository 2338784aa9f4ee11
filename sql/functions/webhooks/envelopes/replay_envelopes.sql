-- Sends an endpoint the events that it missed: those of a period that its topics match and that it has not been sent, if they are still
-- kept. For an endpoint that was added late, or was disabled for a while. Events that it was sent before are recognised and skipped.
-- Returns how many were sent now. They come after what the endpoint got meanwhile: order is kept only among those that are replayed
-- together.
create or replace function webhooks.replay_envelopes(
  p_endpoint text, p_from timestamptz, p_to timestamptz default null, p_stream text default null
) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := webhooks.find_endpoint(p_endpoint, null);
  v_part record;
  v_sent integer := 0;
  v_new integer;
begin
  perform outbox.check_stream_name(p_stream);
  if p_from is null then
    perform headroom.fail('invalid_input', 'The time from which events are sent again is missing.');
  elsif not v_endpoint.enabled then
    perform headroom.fail('conflict', 'This endpoint is disabled.', null, 'Enable it first. Nothing was sent.');
  end if;
  for v_part in
    select array_agg(d.id order by d.n) as ids,
           jsonb_agg(jsonb_build_object(
             'stream', d.stream, 'key', d.key, 'instruction_id', d.instruction_id, 'idempotency_key', v_endpoint.id, 'rail', 'webhook',
             'destination', 'endpoint:' || v_endpoint.id, 'payload', d.payload) order by d.n) as rows
      from (select e.id, e.instruction_id, e.payload, s.name as stream, k.key, row_number() over w - 1 as n,
                   sum(octet_length(e.payload::text)) over w as bytes
              from webhooks.envelopes e
              join outbox.stream_settings s on s.stream_id = e.stream_id
             cross join lateral (select v_endpoint.id || ':' || coalesce(e.subject, e.payload ->> 'source')) k(key)
             where e.created_at >= p_from and (p_to is null or e.created_at < p_to) and (p_stream is null or s.name = p_stream)
               and e.outbox_ids is not null and e.payload is not null and webhooks.topic_matches(v_endpoint.topics, s.name, e.type)
               and not exists (select from outbox.rows x where x.stream_id = e.stream_id and x.instruction_id = e.instruction_id
                                  and x.idempotency_key = v_endpoint.id::text)
            window w as (order by s.name, k.key, e.ord)) d
     group by d.n / 1000, d.bytes / 16000000 order by d.n / 1000, d.bytes / 16000000
  loop
    with sent as (
      select m.ord, m.outbox_id from outbox.add_rows(false, v_part.rows) m where m.created
    ), noted as (
      update webhooks.envelopes e set outbox_ids = e.outbox_ids || s.outbox_id from sent s where e.id = v_part.ids[s.ord]
    )
    select count(*) into v_new from sent;
    v_sent := v_sent + v_new;
  end loop;
  return v_sent;
end
$$;
comment on function webhooks.replay_envelopes(text, timestamptz, timestamptz, text)
  is 'Sends an endpoint the events of a period that it was not sent; returns how many.';
