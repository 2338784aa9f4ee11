-- Takes back the unordered rows of one expired claim: those without an outcome line yet. The archive is asked only when part of the claim
-- was settled. If the rail can prove nothing, a row that may already have arrived before is not sent a third time.
create or replace function outbox.reap_rows(p_stream outbox.streams, p_claim outbox.claims) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows integer;
  v_dead jsonb;
begin
  with flying as materialized (
    select c.outbox_id, c.line as lines, coalesce(c.tries, 0) + 1 as tries, coalesce(c.first_sent_at, p_claim.claimed_at) as first_sent_at,
           m.priority, m.expires_at, coalesce(m.destination_id, 0) as destination_id, m.way_id, m.bytes, m.payload_hash, m.tenant_id,
           r.name as rail,
           coalesce(c.tries, 0) + 1 >= p_stream.max_tries or coalesce(c.uncertain, false) and r.capability = 'blind' as spent
      from unnest(p_claim.outbox_ids, p_claim.lines, p_claim.tries, p_claim.first_sent_at, p_claim.uncertain)
           c(outbox_id, line, tries, first_sent_at, uncertain)
      join outbox.payloads m on m.outbox_id = c.outbox_id
      join outbox.rails r on r.rail_id = m.rail_id
     where p_claim.open = cardinality(p_claim.outbox_ids)
        or not exists (select from outbox.attempts a
                        where a.outbox_id = c.outbox_id and a.attempt_no = c.line + 1 and a.class_id = p_stream.class_id)
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, uncertain, error_code)
    select f.outbox_id, f.lines + 1, p_stream.class_id, p_stream.stream_id, 'ZOMBIE_REQUEUE'::outbox.attempt_state, p_claim.relay_id,
           p_claim.claim_id, true, 'lease_expired'
      from flying f
    union all
    select f.outbox_id, f.lines + 2, p_stream.class_id, p_stream.stream_id, 'FAILED', p_claim.relay_id, p_claim.claim_id, true,
           'tries_exhausted'
      from flying f where f.spent
  ), requeued as (
    insert into outbox.pending_unordered (outbox_id, stream_id, priority, due, expires_at, first_sent_at, lines, destination_id, tries,
                                          uncertain, bytes, payload_hash, way_id)
    select f.outbox_id, p_stream.stream_id, f.priority, now(), f.expires_at, f.first_sent_at, f.lines + 1, f.destination_id, f.tries, true,
           f.bytes, f.payload_hash, f.way_id
      from flying f where not f.spent
  ), given_up as (
    insert into outbox.dead (outbox_id, stream_id, first_sent_at, lines, tries, priority, uncertain, parked, error_code, error_message)
    select f.outbox_id, p_stream.stream_id, f.first_sent_at, f.lines + 2, f.tries, f.priority, true, true, 'tries_exhausted',
           'The relay died each time while sending this row.'
      from flying f where f.spent
  )
  select count(*), jsonb_agg(jsonb_build_object('stream', p_stream.name, 'outbox_id', f.outbox_id, 'code', 'tries_exhausted',
                                                'tenant_id', f.tenant_id, 'rail', f.rail)) filter (where f.spent)
    into v_rows, v_dead from flying f;
  if v_dead is not null then
    perform headroom.run_hooks('outbox.ended', v_dead);
  end if;
  return v_rows;
end
$$;
comment on function outbox.reap_rows(outbox.streams, outbox.claims) is 'Requeues the rows in flight of an expired claim on unordered rows.';
