-- The queues of a stream that hold something, with how many of their rows may be sent now, and from when on. A queue is one tenant's way to one
-- destination, so a queue that stands still costs the others a look at its first entry, whatever its length.
--
-- A relay says what it has in flight (p_in_flight: free places; calls under way by stream, destination and tenant), and each gets a part of what is
-- free: a destination may hold a third of what is left free after it, a tenant as much as is left free, a stream eight times that. So whoever
-- comes next finds room, however many are slow at once; and where nobody else comes, little is left unused. Null: no such bounds.
--
-- With p_hold, gates whose state must change when a row passes (limited, half open, or something noted) are taken; those that somebody else has
-- let nothing pass this time. At most p_most queues are looked at, beginning anywhere when there are more.
create or replace function outbox.open_queues(p_stream outbox.streams, p_since timestamptz, p_in_flight jsonb, p_hold boolean, p_most integer default 200)
returns table (destination_id integer, name text, tenant_id text, slots integer, tenant_slots integer, opens_at timestamptz, limited boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_from integer := 0;
  v_ids integer[];
  v_limited text[];
  v_held text[];
  v_free integer := (p_in_flight ->> 'free')::integer;
begin
  for v_look in 1..2 loop
    if p_stream.ordered then
      with recursive queue(destination_id, n) as (
        (select h.destination_id, 1 from outbox.heads h
          where h.stream_id = p_stream.stream_id and h.destination_id > v_from and h.claim_id is null and not h.blocked and h.due >= p_since
          order by h.destination_id limit 1)
        union all
        select (select h.destination_id from outbox.heads h
                 where h.stream_id = p_stream.stream_id and h.destination_id > q.destination_id and h.claim_id is null and not h.blocked and h.due >= p_since
                 order by h.destination_id limit 1), q.n + 1
          from queue q where q.destination_id is not null and q.n < p_most
      )
      select array_agg(q.destination_id) into v_ids from queue q where q.destination_id is not null;
    else
      with recursive queue(destination_id, n) as (
        (select u.destination_id, 1 from outbox.pending_unordered u
          where u.stream_id = p_stream.stream_id and u.destination_id > v_from and u.due >= p_since order by u.destination_id limit 1)
        union all
        select (select u.destination_id from outbox.pending_unordered u
                 where u.stream_id = p_stream.stream_id and u.destination_id > q.destination_id and u.due >= p_since order by u.destination_id limit 1), q.n + 1
          from queue q where q.destination_id is not null and q.n < p_most
      )
      select array_agg(q.destination_id) into v_ids from queue q where q.destination_id is not null;
    end if;
    exit when v_ids is null or cardinality(v_ids) < p_most;
    v_from := (random() * v_ids[p_most])::integer + (random() * (select max(d.destination_id) - v_ids[p_most] from outbox.destinations d))::integer;
  end loop;
  if v_ids is null then
    return;
  end if;

  select array_agg(g.name) into v_limited
    from outbox.gates_of(array(select distinct d.name from outbox.destinations d where d.destination_id = any (v_ids))) g
   where g.min_interval_ms > 0 or g.failures >= g.failure_threshold or exists (select from outbox.gate_notes t where t.name = g.name);
  if p_hold and v_limited is not null then
    v_held := outbox.hold_gates(v_limited);
  end if;
  return query
  select d.destination_id, d.name, d.tenant_id,
         case when s.opens_at > now() or p_hold and d.name = any (v_limited) and not coalesce(d.name = any (v_held), false) then 0
              when g.min_interval_ms > 0 or g.failures >= g.failure_threshold then least(1, r.slots)
              else r.slots end,
         r.tenant_slots,
         case when g.probe_until > now() then least(s.opens_at, greatest(now() + interval '1 s', g.next_slot_at, g.open_until)) else s.opens_at end,
         coalesce(d.name = any (v_limited), false)
    from unnest(v_ids) q(destination_id)
    join outbox.destinations d on d.destination_id = q.destination_id
    join outbox.gates_of(array(select distinct d.name from outbox.destinations d where d.destination_id = any (v_ids))) g on g.name = d.name
   cross join lateral (select greatest(g.next_slot_at, g.open_until, g.probe_until) as opens_at) s
   cross join lateral (
         select case when v_free is null then 2147483647 else (v_free - 3 * coalesce((p_in_flight #>> array['destinations', d.name])::integer, 0) + 3) / 4 end as slots,
                case when v_free is null or d.tenant_id is null then 2147483647
                     else (v_free - coalesce((p_in_flight #>> array['tenants', d.tenant_id])::integer, 0) + 1) / 2 end as tenant_slots) r;
end
$$;
comment on function outbox.open_queues(outbox.streams, timestamptz, jsonb, boolean, integer) is 'Queues that hold something, and what may leave them. Nullable: tenant_id.';
