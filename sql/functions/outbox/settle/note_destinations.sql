-- Notes what outcomes say about their destinations. An answer of any kind closes the circuit; failures in a row open it, longer each time;
-- a request for quiet (429) pauses the destination without counting as a failure. If nothing was called, the outcome says nothing about the
-- destination; a mail server that does not take one mail for now speaks only of that mail. A receiver that has not finished what one row
-- asked for, does not show it yet, or cannot do it for now for the subject of that row, has answered: an account without money must not
-- keep its customers from paying. A row that came back unsent says nothing, except that it is no longer a probe.
--
-- Each note is recorded, and applied to the gate immediately if that is free, otherwise by the next session that takes the gate: a settle
-- waits for nobody, and no note is lost.
create or replace function outbox.note_destinations(p_outcomes outbox.row_outcome[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
  v_answers constant text[] :=
    '{still_running,may_still_appear,balance_insufficient,lock_timeout,still_open,too_many_to_search}';
begin
  with heard as materialized (
    select d.name,
           count(*) filter (where o.kind in ('retry', 'unknown') and not coalesce(o.throttled, false)
                              and coalesce(o.code, '') not in
                                ('render_failed', 'endpoint_unavailable', 'smtp_4xx')
                              and coalesce(o.code, '') <> all (v_answers)) as failed,
           count(*) filter (where coalesce(o.kind, 'delivered') in ('delivered', 'rejected')
                              and coalesce(o.code, '') not in
                                ('payload_invalid', 'binding_missing', 'binding_invalid', 'outcome_unknown')
                              or o.code = any (v_answers)) as answered,
           -- least() leaves nulls out: a receiver that gives no time does not ask for a day.
           max(least(o.after_ms, 86400000)) filter (where o.throttled and o.after_ms is not null) as quiet_ms,
           coalesce(bool_or(o.throttled), false) as throttled,
           max(o.code) filter (where o.kind in ('retry', 'unknown', 'rejected')) as code
      from unnest(p_outcomes) o
      join outbox.destinations d on d.destination_id = o.destination_id
     group by d.name
  ), noted as (
    insert into outbox.gate_notes (name, failed, answered, throttled, quiet_ms, code, clears)
    select h.name, h.failed, h.answered, h.throttled, h.quiet_ms, h.code,
           coalesce((select l.clears from outbox.limits l where l.name = h.name), 0)
      from heard h
     where h.failed > 0 or h.throttled
        or exists (select from outbox.gates g
                    where g.name = h.name
                      and (g.probe_until is not null or h.answered > 0 and (g.failures > 0 or g.open_until is not null)))
        -- Notes that are not applied to the gate yet are undone in the same way as those that are.
        or h.answered > 0 and exists (select from outbox.gate_notes t where t.name = h.name)
    returning name
  )
  select array_agg(n.name) into v_names from noted n;
  if v_names is not null then
    perform outbox.hold_gates(v_names);
  end if;
end
$$;
comment on function outbox.note_destinations(outbox.row_outcome[]) is 'Opens, closes and pauses destinations by the outcomes of calls.';
