-- What outcomes say about their destinations. An answer of any kind closes the circuit; failures in a row open it, longer
-- each time; a request for quiet (429) pauses the destination without counting against it; where nobody was called nothing is
-- said about it, and a mail server that does not take one mail for now speaks of that mail. A row that came back unsent says nothing, except that it is no longer a probe.
--
-- It is written down, and put into the gate at once if that is free, else by whoever takes it next: a settle waits for nobody, and
-- nothing that it has to say is lost.
create or replace function outbox.note_destinations(
  p_destination_ids integer[], p_outcomes text[], p_codes text[], p_after_ms bigint[], p_throttled boolean[]
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
begin
  with heard as materialized (
    select d.name,
           count(*) filter (where g.outcome in ('retry', 'unknown') and not coalesce(g.throttled, false)
                              and coalesce(g.code, '') not in ('render_failed', 'endpoint_unavailable', 'smtp_4xx')) as failed,
           count(*) filter (where coalesce(g.outcome, 'delivered') in ('delivered', 'rejected')
                              and coalesce(g.code, '') not in ('payload_invalid', 'binding_missing', 'binding_invalid', 'outcome_unknown')) as answered,
           -- least() leaves nulls out: a receiver that says no time is not one that says a day.
           max(least(g.after_ms, 86400000)) filter (where g.throttled and g.after_ms is not null) as quiet_ms, coalesce(bool_or(g.throttled), false) as throttled,
           max(g.code) filter (where g.outcome in ('retry', 'unknown', 'rejected')) as code
      from unnest(p_destination_ids, p_outcomes, p_codes, p_after_ms, p_throttled) g(destination_id, outcome, code, after_ms, throttled)
      join outbox.destinations d on d.destination_id = g.destination_id
     group by d.name
  ), noted as (
    insert into outbox.gate_notes (name, failed, answered, throttled, quiet_ms, code, clears)
    select h.name, h.failed, h.answered, h.throttled, h.quiet_ms, h.code, coalesce((select l.clears from outbox.limits l where l.name = h.name), 0)
      from heard h
     where h.failed > 0 or h.throttled
        or exists (select from outbox.gates g
                    where g.name = h.name and (g.probe_until is not null or h.answered > 0 and (g.failures > 0 or g.open_until is not null)))
        -- What has not been put into the gate yet is undone like what has.
        or h.answered > 0 and exists (select from outbox.gate_notes t where t.name = h.name)
    returning name
  )
  select array_agg(n.name) into v_names from noted n;
  if v_names is not null then
    perform outbox.hold_gates(v_names);
  end if;
end
$$;
comment on function outbox.note_destinations(integer[], text[], text[], bigint[], boolean[]) is 'Opens, closes and pauses destinations by what their calls came to.';
