-- Destinations with their limits and circuits. Open: nobody sends. Half-open: the next row, or one that is under way, is a
-- probe. Waiting: how long until the next send may start.
create or replace view outbox.destination_status as
select d.destination_id, d.name,
       case when d.failures < d.failure_threshold then 'closed'
            when d.open_until > now() then 'open'
            else 'half_open' end as circuit,
       coalesce(d.probe_until > now(), false) as probing, d.failures, d.failure_threshold, d.open_until, d.times_opened, d.last_error_code,
       d.min_interval_ms, nullif(greatest(d.next_slot_at, now()), now()) as next_slot_at, d.changed_at
  from outbox.destinations d;
comment on view outbox.destination_status is 'Circuit state, limit and next free slot of each destination.';
