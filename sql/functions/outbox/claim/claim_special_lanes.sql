-- Claims the lanes that the common path of claim() left: those whose next row is dated, expiring or coalescing, those that turned out to
-- hold nothing, and those that go to a destination and were chosen by claim_queues. The caller has locked their heads. One row per lane:
-- a destination has no use for a run.
--
-- p_destination_ids gives the queue that each lane was taken from. A lane whose next row goes elsewhere, or goes another way, moves to that
-- queue and waits for its turn there.
create or replace function outbox.claim_special_lanes(
  p_claim_id bigint, p_relay_id integer, p_stream outbox.streams, p_lane_ids bigint[], p_destination_ids integer[], p_max_bytes bigint
) returns setof outbox.claimed_row
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
  v_replaceable bigint[];
  v_empty bigint[];
  v_admitted bigint[];
begin
  select array_agg(h.lane_id order by n.ord) into v_lanes
    from unnest(p_lane_ids) with ordinality n(lane_id, ord) join outbox.heads h on h.lane_id = n.lane_id
   where h.claim_id is null;

  -- Rows that are no longer needed leave without being sent: expired rows, and rows that a later row of the same coalesce key replaces.
  -- A row that may have been sent already stays until that is settled.
  --
  -- Only due rows replace others or are replaced: from the first row that waits for its time (held_from) nothing is decided yet. A later
  -- row that never expires will be sent, or will be visible among the dead letters. A later row that does expire replaces only the row
  -- right before it, and only if that one expires no later, goes the same way and is no more urgent: whatever delayed the later row in
  -- that case would have delayed the earlier one too.
  --
  -- A first row that is rendered when it is sent and that others bind (maker) is never replaced: it replaces those behind it, because it
  -- says what they would say. If it may have been sent already, it said only what was true then.
  select array_agg(l.lane_id) into v_replaceable from unnest(v_lanes) l(lane_id)
   where exists (select from outbox.pending p where p.lane_id = l.lane_id and (p.coalesce_key is not null or p.expires_at is not null));
  if v_replaceable is not null then
    with special_row as (
      select p.lane_id, p.seq, p.outbox_id, p.uncertain, p.expires_at, p.priority, p.destination_id, p.way_id, p.coalesce_key,
             coalesce(min(p.seq) filter (where p.due > now() and (p.uncertain or coalesce(p.expires_at > now(), true)))
                        over (partition by p.lane_id), 9223372036854775807) as held_from
        from outbox.pending p where p.lane_id = any (v_replaceable) and p.special
    ), maker as materialized (
      select f.lane_id, f.seq, f.coalesce_key
        from unnest(v_replaceable) l(lane_id)
        join outbox.heads h on h.lane_id = l.lane_id
       cross join lateral (select p.* from outbox.pending p where p.lane_id = h.lane_id and p.seq >= h.head_seq
                            order by p.seq limit 1) f
        join outbox.payloads m on m.outbox_id = f.outbox_id
       where f.coalesce_key is not null and not f.uncertain and f.expires_at is null and m.captures is not null
         and m.binds #> '{0,path}' = '[]' and m.binds #> '{0,renderer}' is not null
    ), judged as materialized (
      select r.*,
             max(r.seq) filter (where r.expires_at is null and r.seq < r.held_from)
               over (partition by r.lane_id, r.coalesce_key) as lasting_seq,
             (select k.seq from maker k where k.lane_id = r.lane_id and k.coalesce_key = r.coalesce_key) as maker_seq
        from special_row r
    ), gone as (
      delete from outbox.pending p
       using judged r
       where p.lane_id = r.lane_id and p.seq = r.seq and not r.uncertain
         and (r.expires_at <= now()
              or r.coalesce_key is not null and r.seq < r.held_from
                 and case when r.maker_seq is not null then r.seq > r.maker_seq else r.seq < r.lasting_seq
                      or r.expires_at is not null
                         and exists (select
                                       from (select n.* from outbox.pending n
                                              where n.lane_id = r.lane_id and n.seq > r.seq
                                                and (n.uncertain or coalesce(n.expires_at > now(), true))
                                              order by n.seq limit 1) n
                                      where n.seq < r.held_from and n.coalesce_key = r.coalesce_key and n.expires_at >= r.expires_at
                                        and n.priority >= r.priority and n.destination_id is not distinct from r.destination_id
                                        and n.way_id = r.way_id) end)
      returning p.*
    )
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, uncertain, error_code)
    select g.outbox_id, g.lines + 1, p_stream.class_id, p_stream.stream_id, 'SKIPPED', p_relay_id, g.uncertain,
           case when g.expires_at <= now() then 'expired' else 'superseded' end
      from gone g;
  end if;

  with verdict as materialized (
    select l.lane_id, l.ord, p.seq, p.priority, p.due, p.way_id, coalesce(p.destination_id, 0) as destination_id,
           p.due <= now() and p.way_id = h.way_id and coalesce(p.destination_id, 0) = d.destination_id as admitted
      from unnest(v_lanes) with ordinality l(lane_id, ord)
      join outbox.heads h on h.lane_id = l.lane_id
      join unnest(p_lane_ids, p_destination_ids) d(lane_id, destination_id) on d.lane_id = l.lane_id
      left join lateral (select p.* from outbox.pending p where p.lane_id = l.lane_id and p.seq >= h.head_seq
                          order by p.seq limit 1) p on true
  ), waiting as (
    update outbox.heads h set head_seq = v.seq, due = v.due, priority = v.priority, way_id = v.way_id,
           destination_id = v.destination_id
      from verdict v where h.lane_id = v.lane_id and v.seq is not null and not v.admitted
  )
  select array_agg(v.lane_id order by v.ord) filter (where v.seq is null),
         array_agg(v.lane_id order by v.ord) filter (where v.seq is not null and v.admitted)
    into v_empty, v_admitted
    from verdict v;

  if v_empty is not null then
    perform outbox.advance_lanes(v_empty, array_fill(0::bigint, array[cardinality(v_empty)]));
  end if;
  if v_admitted is null then
    return;
  end if;
  return query
  with row_one as materialized (
    select *
      from (select p.*, n.ord, sum(p.bytes) over (order by n.ord) as so_far
              from unnest(v_admitted) with ordinality n(lane_id, ord)
              join outbox.heads h on h.lane_id = n.lane_id
             cross join lateral (select p.* from outbox.pending p where p.lane_id = h.lane_id and p.seq >= h.head_seq
                                  order by p.seq limit 1) p) r
     where r.so_far <= greatest(r.bytes, p_max_bytes)
  ), leased as (
    update outbox.heads h set claim_id = p_claim_id, head_seq = r.seq, claimed_to = r.seq, misses = 0
      from row_one r where h.lane_id = r.lane_id
  ), lease as (
    insert into outbox.claims as c (claim_id, stream_id, relay_id, lease_until, open, lane_ids)
    select p_claim_id, p_stream.stream_id, p_relay_id, now() + p_stream.lease_seconds * interval '1 s', count(*), array_agg(r.lane_id)
      from row_one r
    on conflict (claim_id) do update set open = c.open + excluded.open, lane_ids = c.lane_ids || excluded.lane_ids
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, uncertain, payload_hash)
    select r.outbox_id, r.lines + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHING', p_relay_id, p_claim_id, r.uncertain,
           m.payload_hash
      from row_one r join outbox.payloads m on m.outbox_id = r.outbox_id
  )
  select p_claim_id, r.lane_id, r.seq, r.outbox_id, r.lines + 1, r.tries, r.uncertain,
         m.rail_id, k.key,
         m.instruction_id, m.idempotency_key, m.payload::text, r.destination_id,
         (select d.name from outbox.destinations d where d.destination_id = r.destination_id),
         (extract(epoch from now() - r.first_sent_at) * 1000)::bigint, m.captures::text, m.binds is not null, m.tenant_id
    from row_one r
    join outbox.payloads m on m.outbox_id = r.outbox_id
    join outbox.lanes k on k.lane_id = r.lane_id
   order by r.ord;
end
$$;
comment on function outbox.claim_special_lanes(bigint, integer, outbox.streams, bigint[], integer[], bigint)
  is 'Claims lanes whose next row needs a decision first.';
