-- Takes the gates that nobody else holds for this transaction, and applies to them what settles have noted. A gate is held for a few
-- milliseconds, by its row, which no login can lock; nobody waits for one. Returns the names of the gates taken.
create or replace function outbox.hold_gates(p_names text[]) returns text[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_held text[];
  v_added boolean := false;
  v_note record;
  v_turn record;
  v_circuits jsonb := '[]';
begin
  loop
    select array_agg(g.name) into v_held
      from (select g.name from outbox.gates g where g.name = any (p_names) for update skip locked) g;
    exit when v_added or cardinality(v_held) = cardinality(p_names);
    v_added := true;
    perform outbox.add_gate(n.name)
       from (select distinct u.name from unnest(p_names) u(name)) n
      where not exists (select from outbox.gates g where g.name = n.name);
    exit when not found;
  end loop;
  -- A separate statement: only a new snapshot sees what others wrote before they let go of the gate.
  for v_note in
    select t.*, coalesce((select l.clears from outbox.limits l where l.name = t.name), 0) as clears_now
      from outbox.gate_notes t where t.name = any (v_held) order by t.note_id
  loop
    delete from outbox.gate_notes t where t.note_id = v_note.note_id;
    continue when v_note.clears <> v_note.clears_now;
    -- Calls that were under way when the circuit opened come back in several settles; the circuit opens once.
    update outbox.gates g
       set failures = case when v_note.answered > 0 then 0 else s.failures + v_note.failed end,
           times_opened = case when v_note.answered > 0 then 0 when s.opens then s.times_opened + 1 else s.times_opened end,
           open_until = case when v_note.answered > 0 then null
                             when s.opens
                               then v_note.noted_at + least(s.open_base_ms * power(2, least(s.times_opened, 20)), 600000) * interval '1 ms'
                             else s.open_until end,
           probe_until = null,
           next_slot_at = case when v_note.throttled
                               then greatest(s.next_slot_at, v_note.noted_at + coalesce(v_note.quiet_ms, s.open_base_ms) * interval '1 ms')
                               else s.next_slot_at end,
           last_error_code = coalesce(v_note.code, s.last_error_code),
           clears = v_note.clears,
           changed_at = clock_timestamp()
      from (select o.*, v_note.failed > 0 and o.failures + v_note.failed >= o.failure_threshold
               and coalesce(o.open_until <= v_note.noted_at, true) as opens
              from outbox.gates_of(array[v_note.name]) o) s
     where g.name = v_note.name
    returning v_note.answered = 0 and s.opens and s.times_opened = 0 as opened, v_note.answered > 0 and s.times_opened > 0 as closed
      into v_turn;
    if v_turn.opened or v_turn.closed then
      v_circuits := v_circuits || jsonb_build_object(
        'destination', v_note.name, 'circuit', case when v_turn.opened then 'open' else 'closed' end, 'code', v_note.code);
    end if;
  end loop;
  if v_circuits <> '[]' then
    perform headroom.run_hooks('outbox.circuits', v_circuits);
  end if;
  return v_held;
end
$$;
comment on function outbox.hold_gates(text[])
  is 'Takes the gates that are free until the end of the transaction, and brings them up to date. Nullable: result.';
