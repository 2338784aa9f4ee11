-- What outcomes say about their destinations. An answer of any kind closes the circuit; failures in a row open it, longer
-- each time; a request for quiet (429) pauses the destination without counting against it; where nobody was called nothing is said about it. A row that came back unsent says
-- nothing, except that it is no longer a probe.
create or replace function outbox.note_destinations(
  p_destination_ids integer[], p_outcomes text[], p_codes text[], p_after_ms bigint[], p_throttled boolean[]
) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  with heard as (
    select g.destination_id,
           count(*) filter (where g.outcome in ('retry', 'unknown') and not coalesce(g.throttled, false)
                              and coalesce(g.code, '') not in ('render_failed', 'endpoint_unavailable')) as failed,
           count(*) filter (where coalesce(g.outcome, 'delivered') in ('delivered', 'rejected')
                              and coalesce(g.code, '') not in ('payload_invalid', 'binding_missing', 'binding_invalid', 'outcome_unknown')) as answered,
           max(least(g.after_ms, 86400000)) filter (where g.throttled) as quiet_ms, coalesce(bool_or(g.throttled), false) as throttled,
           max(g.code) filter (where g.outcome in ('retry', 'unknown', 'rejected')) as code
      from unnest(p_destination_ids, p_outcomes, p_codes, p_after_ms, p_throttled) g(destination_id, outcome, code, after_ms, throttled)
     where g.destination_id is not null
     group by g.destination_id
  ), locked as (
    select d.* from outbox.destinations d where d.destination_id in (select destination_id from heard) order by d.destination_id for update
  ), judged as (
    -- What was under way when the circuit opened comes back in several settles; it opens once.
    select h.*, h.failed > 0 and l.failures + h.failed >= l.failure_threshold and coalesce(l.open_until <= now(), true) as opens
      from heard h join locked l on l.destination_id = h.destination_id
  )
  update outbox.destinations d
     set failures = case when h.answered > 0 then 0 else d.failures + h.failed end,
         times_opened = case when h.answered > 0 then 0 when h.opens then d.times_opened + 1 else d.times_opened end,
         open_until = case when h.answered > 0 then null
                           when h.opens
                           then now() + least(d.open_base_ms * power(2, least(d.times_opened, 20)), 600000) * interval '1 ms'
                           else d.open_until end,
         probe_until = null,
         next_slot_at = case when h.throttled then greatest(d.next_slot_at, now() + coalesce(h.quiet_ms, d.open_base_ms) * interval '1 ms') else d.next_slot_at end,
         last_error_code = coalesce(h.code, d.last_error_code),
         changed_at = now()
    from judged h
   where d.destination_id = h.destination_id
     and (h.failed > 0 or h.throttled or d.probe_until is not null or h.answered > 0 and (d.failures > 0 or d.open_until is not null));
$$;
comment on function outbox.note_destinations(integer[], text[], text[], bigint[], boolean[]) is 'Opens, closes and pauses destinations by what their calls came to.';
