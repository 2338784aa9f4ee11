-- Moves dead rows back to pending and makes their lanes start from them. The caller holds the locks and has decided. A row that may have
-- arrived stays in doubt: the receiver is asked about it, or it is sent under its key, as after any try without an answer.
create or replace function outbox.requeue_dead(p_outbox_ids uuid[], p_overtaken boolean[], p_actor text, p_reason text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
begin
  with risen as materialized (
    delete from outbox.dead d using unnest(p_outbox_ids, p_overtaken) c(outbox_id, overtaken)
     where d.outbox_id = c.outbox_id
    returning d.*, c.overtaken
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, uncertain, out_of_order, actor, reason)
    select r.outbox_id, r.lines + 1, s.class_id, r.stream_id, 'REDRIVEN', r.uncertain, r.overtaken, p_actor, p_reason
      from risen r join outbox.streams s on s.stream_id = r.stream_id
  ), ordered as (
    insert into outbox.pending
      (lane_id, seq, outbox_id, due, expires_at, first_sent_at, lines, destination_id, priority, uncertain, special, bytes, payload_hash,
       coalesce_key, way_id)
    select r.lane_id, r.seq, r.outbox_id, now(), m.expires_at, r.first_sent_at, r.lines + 1, m.destination_id, r.priority, r.uncertain,
           m.expires_at is not null or m.coalesce_key is not null or m.destination_id is not null, m.bytes, m.payload_hash, m.coalesce_key,
           m.way_id
      from risen r join outbox.payloads m on m.outbox_id = r.outbox_id
     where r.lane_id is not null
  ), unordered as (
    insert into outbox.pending_unordered
      (outbox_id, stream_id, priority, due, expires_at, first_sent_at, lines, destination_id, uncertain, bytes, payload_hash,
       way_id)
    select r.outbox_id, r.stream_id, r.priority, now(), m.expires_at, r.first_sent_at, r.lines + 1, coalesce(m.destination_id, 0),
           r.uncertain, m.bytes, m.payload_hash, m.way_id
      from risen r join outbox.payloads m on m.outbox_id = r.outbox_id
     where r.lane_id is null
  )
  select array_agg(distinct r.lane_id) filter (where r.lane_id is not null) into v_lanes from risen r;
  if v_lanes is not null then
    perform outbox.rewind_lanes(v_lanes);
  end if;
  perform outbox.wake_relays(s.name)
     from outbox.streams s
    where s.stream_id in (select m.stream_id from outbox.payloads m where m.outbox_id = any (p_outbox_ids));
end
$$;
comment on function outbox.requeue_dead(uuid[], boolean[], text, text) is 'Puts dead rows back into the pending tables.';
