-- Claims rows that are bound for destinations: from each queue what its gate and its share let pass, the queues in turn. Rows that may not
-- go yet stay where they are, in order, and get no line.
create or replace function outbox.claim_queues(
  p_relay_id integer, p_stream outbox.streams, p_max_rows integer, p_max_bytes bigint, p_since timestamptz, p_in_flight jsonb,
  p_ways integer[]
) returns setof outbox.claimed_row
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_free integer := (p_in_flight ->> 'free')::integer;
  v_held integer := coalesce((p_in_flight #>> array['streams', p_stream.name])::integer, 0);
  v_max integer := case when v_free is null then p_max_rows else least(p_max_rows, (v_free + 1) / 2) end;
  -- How much the stream may still have. A queue with nothing in flight may take one row more: the rest is kept free for such queues.
  v_share integer := case when v_free is null then p_max_rows else (8 * v_free - v_held + 8) / 9 end;
  v_claim_id bigint;
  v_ways integer[];
  v_destinations integer[];
  v_names text[];
  v_tenants text[];
  v_slots integer[];
  v_tenant_slots integer[];
  v_limited text[];
  v_fresh boolean[];
  v_nths integer[];
  -- If a tenant or a way has very many queues, take some at random: each first row that is read is locked, and most of them would be left.
  v_cut integer := 2 * v_max;
  v_chosen integer[];
  v_lanes bigint[];
  v_ids uuid[];
  v_taken integer[];
begin
  if v_max <= 0 then
    return;
  end if;
  select array_agg(q.way_id), array_agg(q.destination_id), array_agg(q.name), array_agg(q.tenant_id),
         array_agg(least(q.slots, q.tenant_slots, v_max)), array_agg(q.tenant_slots), array_agg(q.fresh), array_agg(q.nth),
         array_agg(distinct q.name) filter (where q.limited)
    into v_ways, v_destinations, v_names, v_tenants, v_slots, v_tenant_slots, v_fresh, v_nths, v_limited
    from (select q.*,
                 row_number() over (partition by q.tenant_id, case when q.tenant_id is null then q.way_id end order by random()) as nth
            from outbox.open_queues(p_stream, p_ways, p_since, p_in_flight, true) q where q.slots > 0 and q.tenant_slots > 0) q;
  if v_destinations is null then
    return;
  end if;

  -- The first rows of each queue take fair turns: first the first row of each tenant, then the second of each. Rows without a tenant are
  -- counted by way, so that no writer holds up another. Ties are broken at random. If the queues that were drawn have nothing due, all are
  -- checked.
  loop
    with queue as (
      -- From each queue, lock at most twice its equal share.
      select q.*, least(q.slots, greatest(1, 2 * v_max / cardinality(v_destinations))) as first_rows
        from unnest(v_ways, v_destinations, v_names, v_tenants, v_slots, v_tenant_slots, v_fresh, v_nths)
             q(way_id, destination_id, name, tenant_id, slots, tenant_slots, fresh, nth_queue)
       where q.nth_queue <= v_cut
    ), first_row as materialized (
      select q.*, f.lane_id, f.outbox_id, row_number() over (partition by q.way_id, q.destination_id order by f.priority desc, f.due) as nth
        from queue q
       cross join lateral (
             select f.*
               from (values (9), (8), (7), (6), (5), (4), (3), (2), (1), (0)) level(priority)
              cross join lateral (
                    select * from (
                      select h.lane_id, null::uuid as outbox_id, h.priority, h.due from outbox.heads h
                       where p_stream.ordered and h.stream_id = p_stream.stream_id and h.way_id = q.way_id
                         and h.destination_id = q.destination_id and h.priority = level.priority
                         and h.claim_id is null and not h.blocked and h.due <= now() and h.due >= p_since
                       order by h.due limit q.first_rows for update skip locked) h
                    union all
                    select * from (
                      select null::bigint, u.outbox_id, u.priority, u.due from outbox.pending_unordered u
                       where not p_stream.ordered and u.stream_id = p_stream.stream_id and u.way_id = q.way_id
                         and u.destination_id = q.destination_id and u.priority = level.priority
                         and u.due <= now() and u.due >= p_since
                       order by u.due limit q.first_rows for update skip locked) u) f
              limit q.first_rows) f
    ), ranked as (
      select f.*, row_number() over (partition by f.name order by f.nth, random()) as nth_there
        from first_row f
    ), shared as (
      select r.*, row_number() over (partition by r.tenant_id, case when r.tenant_id is null then r.way_id end
                                      order by r.nth, random()) as nth_of_tenant
        from ranked r
       where r.nth_there <= r.slots
    ), allowed as (
      select s.*, s.fresh and (s.tenant_id is null or s.nth_of_tenant = 1) and s.nth = 1 as newcomer
        from shared s where s.tenant_id is null or s.nth_of_tenant <= s.tenant_slots
    ), chosen as (
      select a.*
        from (select a.*, row_number() over (partition by a.newcomer order by a.nth_of_tenant, random()) as nth_alike from allowed a) a
       where a.newcomer or a.nth_alike <= v_share
       order by a.newcomer desc, a.nth_of_tenant, random() limit v_max
    )
    select array_agg(c.lane_id order by c.nth_of_tenant, c.destination_id, c.nth),
           array_agg(c.outbox_id order by c.nth_of_tenant, c.destination_id, c.nth),
           array_agg(c.destination_id order by c.nth_of_tenant, c.destination_id, c.nth)
      into v_lanes, v_ids, v_chosen
      from chosen c;
    exit when v_chosen is not null or v_cut >= cardinality(v_destinations);
    v_cut := cardinality(v_destinations);
  end loop;
  if v_chosen is null then
    return;
  end if;

  v_claim_id := nextval('outbox.claim_ids');
  if p_stream.ordered then
    return query select * from outbox.claim_special_lanes(v_claim_id, p_relay_id, p_stream, v_lanes, v_chosen, p_max_bytes);
  else
    return query select * from outbox.claim_special_rows(v_claim_id, p_relay_id, p_stream, v_ids, p_max_bytes);
  end if;
  if v_limited is not null then
    if p_stream.ordered then
      select array_agg(h.destination_id) into v_taken from outbox.heads h where h.lane_id = any (v_lanes) and h.claim_id = v_claim_id;
    else
      select array_agg(m.destination_id) into v_taken
        from outbox.claims c cross join lateral unnest(c.outbox_ids) o(outbox_id) join outbox.payloads m on m.outbox_id = o.outbox_id
       where c.claim_id = v_claim_id;
    end if;
    perform outbox.book_slots(
      array(select distinct d.name from outbox.destinations d where d.destination_id = any (v_taken) and d.name = any (v_limited)),
      p_stream.lease_seconds);
  end if;
end
$$;
comment on function outbox.claim_queues(integer, outbox.streams, integer, bigint, timestamptz, jsonb, integer[])
  is 'Leases due rows that are bound for destinations.';
