-- Repairs lanes that nothing would ever wake: those with pending rows and no head, those leased under a claim that is gone, those blocked
-- by a dead row that is gone, and rows without a way. There should be no such lane; if one exists, it is repaired here and counted, and the
-- cause should be investigated.
--
-- A call checks p_max_lanes lanes and the next one continues from there, so that its cost does not grow with the number of lanes (6
-- microseconds each). Each statement has one snapshot, and no snapshot shows a sound lane in such a state, even while another session works
-- on it. What is found is checked again under its lock.
create or replace function outbox.sweep(p_max_lanes integer default 5000) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set lock_timeout = '2s'
as $$
declare
  v_from bigint;
  v_seen integer;
  v_to bigint;
  v_headless bigint[];
  v_unheld bigint[];
  v_unblocked bigint[];
begin
  if p_max_lanes is null or p_max_lanes not between 1 and 1000000 then
    perform headroom.fail('invalid_input', 'A sweep looks at 1 to 1000000 lanes.');
  end if;
  select s.last_value into v_from from outbox.swept_to s;
  with recursive lane as (
    (select p.lane_id, 1 as n from outbox.pending p where p.lane_id > v_from order by p.lane_id limit 1)
    union all
    select (select p.lane_id from outbox.pending p where p.lane_id > l.lane_id order by p.lane_id limit 1), l.n + 1
      from lane l where l.lane_id is not null and l.n < p_max_lanes
  )
  select count(l.lane_id), max(l.lane_id), array_agg(l.lane_id) filter (where h.lane_id is null)
    into v_seen, v_to, v_headless
    from lane l left join outbox.heads h on h.lane_id = l.lane_id
   where l.lane_id is not null;
  if v_seen < p_max_lanes then
    v_to := 9223372036854775807;
  end if;
  perform setval('outbox.swept_to', case when v_seen < p_max_lanes then 0 else v_to end);

  select array_agg(h.lane_id) filter (where h.claim_id is not null), array_agg(h.lane_id) filter (where h.blocked)
    into v_unheld, v_unblocked
    from outbox.heads h
   where h.lane_id > v_from and h.lane_id <= v_to
     and (h.claim_id is not null and not exists (select from outbox.claims c where c.claim_id = h.claim_id)
          or h.blocked and not exists (select from outbox.dead d where d.lane_id = h.lane_id and d.seq = h.head_seq));
  delete from outbox.relays where relay_id in (select r.relay_id from outbox.relays r
                                                where r.seen_at < now() - interval '10 minutes' for update skip locked);
  -- An expired first row waits for no gate: without a destination, the next claim skips it.
  update outbox.heads h set destination_id = 0
   where h.lane_id in (select o.lane_id from outbox.heads o
                        where o.lane_id > v_from and o.lane_id <= v_to and o.destination_id > 0 and o.claim_id is null and not o.blocked
                          and exists (select from outbox.pending p where p.lane_id = o.lane_id and p.seq = o.head_seq
                                         and p.expires_at <= now() and not p.uncertain)
                          for update of o skip locked);
  -- A row that came while its lane was between two rows may go another way than the one that the lane was left with.
  update outbox.heads h set way_id = n.way_id, destination_id = n.destination_id
    from (select o.lane_id, p.way_id, coalesce(p.destination_id, 0) as destination_id
            from outbox.heads o
           cross join lateral (select p.* from outbox.pending p where p.lane_id = o.lane_id and p.seq >= o.head_seq
                                order by p.seq limit 1) p
           where o.lane_id > v_from and o.lane_id <= v_to and o.claim_id is null and not o.blocked and o.way_id <> p.way_id
             for update of o skip locked) n
   where h.lane_id = n.lane_id;
  -- Notes of settles about destinations that nothing is sent to any more.
  perform outbox.hold_gates(array(select distinct t.name from outbox.gate_notes t limit 1000));
  return case when v_headless is null then 0 else outbox.repair_headless(v_headless) end
       + case when v_unheld is null then 0 else outbox.repair_unheld(v_unheld) end
       + case when v_unblocked is null then 0 else outbox.repair_unblocked(v_unblocked) end
       + outbox.repair_ways();
end
$$;
comment on function outbox.sweep(integer)
  is 'Repairs stranded lanes, a part of them at each call, and forgets relays that are long gone; returns how many lanes it repaired.';
