-- The queues of a stream that hold something, with how many of their rows may be sent now, and from when on. A queue holds the rows that go
-- by one way to one destination for one tenant, so a queue that cannot move costs the others one read of its first entry, however long it
-- is.
--
-- A relay passes what it has in flight (p_in_flight: the rails that it has, by number; free places; calls under way by stream, destination
-- and tenant; kinds of destinations whose rail takes no more), and each gets a part of the free places: a destination may hold a third of
-- what is left free after it, a tenant as much as is left free, a stream eight times that. So the next one finds room, however many are
-- slow at the same time (fresh: nothing in flight), and little is left unused when there are no others. Null: no such bounds.
--
-- With p_hold, gates whose state must change when a row passes (limited, half open, or with pending notes) are taken; a gate that another
-- session holds lets nothing pass this time. If there are more than 500 queues, each pass takes the next 500 (more), some of each way; the
-- session remembers where it stopped.
--
-- Unlike its callers, it may join by hash, and it searches no array for each queue: otherwise each queue was compared with every other.
create or replace function outbox.open_queues(
  p_stream outbox.streams, p_ways integer[], p_since timestamptz, p_in_flight jsonb, p_hold boolean
)
returns table (
  way_id integer, destination_id integer, name text, tenant_id text, slots integer, tenant_slots integer, opens_at timestamptz,
  limited boolean, fresh boolean, more boolean
)
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_hashjoin = on
as $$
#variable_conflict use_column
declare
  v_max constant integer := 500;
  v_ways integer[] := array(select w from unnest(p_ways) w where outbox.waiting_queues(p_stream, w, p_since, 0, 1) <> '{}');
  v_share integer;
  v_cursor text;
  v_after integer;
  v_some integer[];
  v_queue_ways integer[] := '{}';
  v_ids integer[] := '{}';
  v_more boolean := false;
  v_names text[];
  v_limited text[];
  v_held text[];
  v_full text[] := array(select jsonb_array_elements_text(p_in_flight -> 'full'));
  v_free integer := (p_in_flight ->> 'free')::integer;
begin
  for v_n in 1 .. cardinality(v_ways) loop
    v_share := greatest(1, (v_max - cardinality(v_ids)) / (cardinality(v_ways) - v_n + 1));
    v_cursor := 'outbox.queues_after_' || v_ways[v_n];
    v_after := coalesce(nullif(current_setting(v_cursor, true), ''), '0')::integer;
    v_some := outbox.waiting_queues(p_stream, v_ways[v_n], p_since, v_after, v_share);
    if v_after > 0 and cardinality(v_some) < v_share then
      v_some := v_some || array(
        select q from unnest(outbox.waiting_queues(p_stream, v_ways[v_n], p_since, 0, v_share - cardinality(v_some))) q where q <= v_after);
    end if;
    v_more := v_more or cardinality(v_some) = v_share;
    if p_hold and (cardinality(v_some) = v_share or v_after > 0) then
      perform set_config(v_cursor, case when cardinality(v_some) = v_share then v_some[v_share]::text else '' end, false);
    end if;
    v_ids := v_ids || v_some;
    v_queue_ways := v_queue_ways || array_fill(v_ways[v_n], array[cardinality(v_some)]);
  end loop;
  if v_ids = '{}' then
    return;
  end if;

  v_names := array(
    select distinct d.name from unnest(v_ids) i(id)
     cross join lateral (select x.name from outbox.destinations x where x.destination_id = i.id offset 0) d);
  select array_agg(g.name) into v_limited from outbox.gates_of(v_names) g
   where g.min_interval_ms > 0 or g.failures >= g.failure_threshold or exists (select from outbox.gate_notes t where t.name = g.name);
  if p_hold and v_limited is not null then
    v_held := outbox.hold_gates(v_limited);
  end if;
  return query
  select q.way_id, d.destination_id, d.name, d.tenant_id,
         case when s.opens_at > now() or d.name = any (v_full) or split_part(d.name, ':', 1) || ':' = any (v_full)
                   or p_hold and l.name is not null and k.name is null then 0
              when g.min_interval_ms > 0 or g.failures >= g.failure_threshold then least(1, r.slots)
              else r.slots end,
         r.tenant_slots,
         case when g.probe_until > now() then least(s.opens_at, greatest(now() + interval '1 s', g.next_slot_at, g.open_until))
           else s.opens_at end,
         l.name is not null, h.held = 0 and h.tenant_held = 0, v_more
    from unnest(v_queue_ways, v_ids) q(way_id, destination_id)
   -- Each by its key (offset 0): a hash join would read every destination that ever existed.
   cross join lateral (select x.* from outbox.destinations x where x.destination_id = q.destination_id offset 0) d
    join outbox.gates_of(v_names) g on g.name = d.name
    left join unnest(v_limited) l(name) on l.name = d.name
    left join unnest(v_held) k(name) on k.name = d.name
   cross join lateral (select greatest(g.next_slot_at, g.open_until, g.probe_until) as opens_at) s
   cross join lateral (
         select coalesce((p_in_flight #>> array['destinations', d.name])::integer, 0) as held,
                coalesce((p_in_flight #>> array['tenants', d.tenant_id])::integer, 0) as tenant_held) h
   cross join lateral (
         select case when v_free is null then 2147483647 else (v_free - 3 * h.held + 3) / 4 end as slots,
                case when v_free is null or d.tenant_id is null then 2147483647
                  else (v_free - h.tenant_held + 1) / 2 end as tenant_slots) r;
end
$$;
comment on function outbox.open_queues(outbox.streams, integer[], timestamptz, jsonb, boolean)
  is 'Queues that hold something, and what may leave them. Nullable: tenant_id.';
