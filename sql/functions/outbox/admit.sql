-- Decides which of the rows at hand may go to their destinations now, and when the others should ask again. Slots and
-- circuits are kept in the destinations' rows, so that all relays together keep one limit. Waiting is not a try.
--
-- Rows that have waited before go first; newcomers queue behind the tail. While a circuit is open nobody passes; when its
-- time is up one probe does, and the others ask again each second until it is answered.
create or replace function outbox.admit(p_destination_ids integer[], p_deferred boolean[], p_lease_seconds integer)
returns table (ord integer, admitted boolean, due timestamptz)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform from outbox.destinations d where d.destination_id = any (p_destination_ids) order by d.destination_id for update;
  return query
  with asked as (
    select a.ord::integer as ord, a.destination_id, a.deferred,
           row_number() over (partition by a.destination_id order by a.deferred desc, a.ord) as nth,
           row_number() over (partition by a.destination_id, a.deferred order by a.ord) as nth_alike
      from rows from (unnest(p_destination_ids), unnest(p_deferred)) with ordinality a(destination_id, deferred, ord)
  ), gate as materialized (
    select d.destination_id, d.min_interval_ms * interval '1 ms' as gap, d.tail_at, d.next_slot_at, d.open_until,
           d.failures >= d.failure_threshold as half_open,
           case when d.open_until > now() or d.next_slot_at > now() or d.probe_until > now() then 0
                when d.failures >= d.failure_threshold or d.min_interval_ms > 0 then 1
                else 2147483647 end as slots,
           d.probe_until > now() as probing
      from outbox.destinations d where d.destination_id = any (p_destination_ids)
  ), decided as materialized (
    select a.ord, a.destination_id, a.deferred, a.nth <= g.slots as admitted,
           case when a.nth <= g.slots then now()
                when g.probing or g.half_open and g.slots = 1 then now() + interval '1 s'
                else greatest(case when g.slots = 1 then now() + g.gap else greatest(g.next_slot_at, g.open_until, now()) end
                                + g.gap * (a.nth - least(g.slots, 1) - 1),
                              case when not a.deferred then g.tail_at + g.gap * a.nth_alike end)
                     + random() * interval '2 ms' end as due
      from asked a join gate g on g.destination_id = a.destination_id
  ), booked as (
    update outbox.destinations d
       set next_slot_at = case when s.passed and g.gap > interval '0' then now() + g.gap else d.next_slot_at end,
           probe_until = case when s.passed and g.half_open then now() + p_lease_seconds * interval '1 s' else d.probe_until end,
           tail_at = greatest(d.tail_at, s.tail)
      from gate g,
           (select x.destination_id, bool_or(x.admitted) as passed, max(x.due) filter (where not x.admitted) as tail
              from decided x group by x.destination_id) s
     where d.destination_id = g.destination_id and s.destination_id = d.destination_id
       and (g.gap > interval '0' or g.half_open)
  )
  select x.ord, x.admitted, x.due from decided x;
end
$$;
comment on function outbox.admit(integer[], boolean[], integer) is 'Reserves send slots at destinations, and dates the rows that have to wait.';
