-- Claims rows of a stream without order that expire or were chosen for a destination, under their own claim. The caller has locked them.
--
-- An expired row is skipped. If it may have arrived, the relay first finds out whether it did, unless a double would be harmless: such a
-- row would be sent again, and it is too late for that.
create or replace function outbox.claim_special_rows(
  p_claim_id bigint, p_relay_id integer, p_stream outbox.streams, p_outbox_ids uuid[], p_max_bytes bigint
) returns setof outbox.claimed_row
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone jsonb;
begin
  with gone as (
    delete from outbox.pending_unordered u where u.outbox_id = any (p_outbox_ids) and u.expires_at <= now()
                                             and (not u.uncertain or p_stream.resend_blind)
      returning u.*
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, uncertain, error_code)
    select g.outbox_id, g.lines + 1, p_stream.class_id, p_stream.stream_id, 'SKIPPED', p_relay_id, g.uncertain, 'expired' from gone g
  )
  select jsonb_agg(jsonb_build_object('stream', p_stream.name, 'outbox_id', g.outbox_id, 'code', 'expired')) into v_gone from gone g;
  if v_gone is not null then
    perform headroom.run_hooks('outbox.ended', v_gone);
    if p_stream.followed then
      perform outbox.tell_finished(array(select (g ->> 'outbox_id')::uuid from jsonb_array_elements(v_gone) g), false, clock_timestamp());
    end if;
  end if;

  return query
  with taken as (
    delete from outbox.pending_unordered u
     where u.outbox_id in (select r.outbox_id
                             from (select p.outbox_id, p.bytes, sum(p.bytes) over (order by n.ord) as so_far
                                     from unnest(p_outbox_ids) with ordinality n(outbox_id, ord)
                                     join outbox.pending_unordered p on p.outbox_id = n.outbox_id) r
                            where r.so_far <= greatest(r.bytes, p_max_bytes))
    returning u.outbox_id, u.lines, u.tries, u.uncertain, u.first_sent_at, u.destination_id, u.priority, u.due
  ), lease as (
    insert into outbox.claims (claim_id, stream_id, relay_id, lease_until, open, outbox_ids, lines, tries, uncertain, first_sent_at)
    select p_claim_id, p_stream.stream_id, p_relay_id, now() + p_stream.lease_seconds * interval '1 s', count(*), array_agg(t.outbox_id),
           array_agg(t.lines + 1), array_agg(t.tries), array_agg(t.uncertain), array_agg(t.first_sent_at)
      from taken t having count(*) > 0
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, uncertain, payload_hash)
    select t.outbox_id, t.lines + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHING', p_relay_id, p_claim_id, t.uncertain,
           m.payload_hash
      from taken t join outbox.payloads m on m.outbox_id = t.outbox_id
  )
  select p_claim_id, null::bigint, null::bigint, t.outbox_id, t.lines + 1, t.tries, t.uncertain,
         m.rail_id, m.key,
         m.instruction_id, m.idempotency_key, m.payload::text, nullif(t.destination_id, 0),
         (select d.name from outbox.destinations d where d.destination_id = t.destination_id),
         (extract(epoch from now() - t.first_sent_at) * 1000)::bigint, m.captures::text, m.binds is not null, m.tenant_id
    from taken t join outbox.payloads m on m.outbox_id = t.outbox_id
   order by t.priority desc, t.due;
end
$$;
comment on function outbox.claim_special_rows(bigint, integer, outbox.streams, uuid[], bigint)
  is 'Claims unordered rows that need a decision first.';
