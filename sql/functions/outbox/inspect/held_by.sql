-- Why a row still waits although it is its turn: no relay serves its rail, or its destination takes nothing before a certain time because
-- the circuit is open or the rate limit is used up. Null when none of these holds it.
create or replace function outbox.held_by(p_rail_id smallint, p_destination text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when r.served_at is null or r.served_at < now() - interval '5 minutes'
             then jsonb_strip_nulls(jsonb_build_object('reason', 'rail_not_served', 'since', r.served_at))
           when g.open_until > now()
             then jsonb_build_object('reason', 'circuit_open', 'until', g.open_until, 'last_error_code', g.last_error_code)
           when g.next_slot_at > now() then jsonb_build_object('reason', 'rate_limit', 'until', g.next_slot_at)
         end
    from outbox.rails r
    left join outbox.gates_of(array[p_destination]) g on p_destination is not null
   where r.rail_id = p_rail_id
$$;
comment on function outbox.held_by(smallint, text) is 'Why a row whose turn it is still waits. Nullable: p_destination, result.';
