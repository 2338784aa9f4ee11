-- One line per stream with what people and metrics need, at a cost that does not grow with the number of waiting rows: watching a stream
-- must not slow it down.
--
-- Up to 10,000 pending rows, and as many active lanes, are counted. Beyond that pending, due, lanes and retrying are estimates from samples
-- of pages, marked "estimated": about 50,000 rows where counting is enough, 5,000 where each row needs a lookup in another table. If there
-- is anything, the estimate is never zero. Numbers whose cost follows leases and dead letters are always counted, and no cost follows the
-- archive.
--
-- pending: not in flight. due: what could be sent now (rows without order; lanes with it). stuck: in flight although the lease has run out.
-- The oldest row's age counts from when it was wanted: enqueued, or its not-before if it has not been tried. With order, only the first row
-- of a lane counts, since the others wait for it; beyond 10,000 active lanes the age is that of the oldest row sampled, which may not be
-- the oldest of all. Without order it is exact.
create or replace function outbox.status()
returns table (
  stream text, ordered boolean, pending bigint, due bigint, in_flight bigint, dead bigint, parked bigint, blocked_lanes bigint,
  oldest_pending_age_seconds double precision, stuck bigint, lanes bigint, retrying bigint, estimated boolean
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set max_parallel_workers_per_gather = 0 set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_rows real := outbox.sample_percent('outbox.pending', 50000);
  v_some_rows real := outbox.sample_percent('outbox.pending', 5000);
  v_lanes real := outbox.sample_percent('outbox.heads', 50000);
  v_some_lanes real := outbox.sample_percent('outbox.heads', 5000);
  v_apart real := outbox.sample_percent('outbox.pending_unordered', 50000);
  v_estimated boolean := v_some_rows < 100 or v_some_lanes < 100;
begin
  return query
  with ordered_rows as materialized (
    select l.stream_id, count(*) * t.n / sum(count(*)) over () as n,
           count(*) filter (where p.tries > 0) * t.n / sum(count(*)) over () as retrying
      from (select count(*) * 100 / v_rows as n from outbox.pending p tablesample system (v_rows) repeatable (1)) t
     cross join outbox.pending p tablesample system (v_some_rows) repeatable (1)
      join outbox.lanes l on l.lane_id = p.lane_id
     group by l.stream_id, t.n
  ), rows_apart as materialized (
    select u.stream_id, count(*) * 100 / v_apart as n, count(*) filter (where u.due <= now()) * 100 / v_apart as due,
           count(*) filter (where u.tries > 0) * 100 / v_apart as retrying
      from outbox.pending_unordered u tablesample system (v_apart) repeatable (1)
     group by u.stream_id
  ), active as materialized (
    select h.stream_id, count(*) * 100 / v_lanes as lanes, count(*) filter (where h.blocked) as blocked,
           count(*) filter (where h.claim_id is null and not h.blocked and h.due <= now() and h.head_seq > 0) * 100 / v_lanes as due
      from outbox.heads h tablesample system (v_lanes) repeatable (1)
     group by h.stream_id
  ), first_rows as materialized (
    select h.stream_id, least(min(p.due) filter (where p.lines = 0),
                             -- Ids sort by their time, so only the first one has to be read.
                             outbox.id_time((min(p.outbox_id::text collate "C") filter (where p.lines > 0))::uuid)) as wanted_at
      from outbox.heads h tablesample system (v_some_lanes) repeatable (1)
     cross join lateral (select p.* from outbox.pending p where p.lane_id = h.lane_id order by p.seq limit 1) p
     group by h.stream_id
  ), flying as materialized (
    select c.stream_id, sum(coalesce(f.n, c.open)) as n, sum(coalesce(f.n, c.open)) filter (where c.lease_until < now()) as stuck
      from outbox.claims c
      left join lateral (
           select count(*) as n
             from outbox.heads h join outbox.pending p on p.lane_id = h.lane_id and p.seq between h.head_seq and h.claimed_to
            where h.lane_id = any (c.lane_ids) and h.claim_id = c.claim_id) f on c.lane_ids is not null
     group by c.stream_id
  ), given_up as materialized (
    select d.stream_id, count(*) as n, count(*) filter (where d.parked) as parked from outbox.dead d group by d.stream_id
  ), line as (
    select s.stream_id, s.name, s.ordered, case when s.ordered then v_estimated else v_apart < 100 end as estimated,
           coalesce(case when s.ordered then o.n - coalesce(f.n, 0) else u.n end, 0) as pending, coalesce(a.due, u.due, 0) as due,
           coalesce(f.n, 0) as in_flight, coalesce(f.stuck, 0) as stuck, coalesce(g.n, 0) as dead, coalesce(g.parked, 0) as parked,
           coalesce(a.blocked, 0) as blocked, coalesce(a.lanes, 0) as lanes, coalesce(o.retrying, u.retrying, 0) as retrying, r.wanted_at
      from outbox.streams s
      left join ordered_rows o on o.stream_id = s.stream_id
      left join rows_apart u on u.stream_id = s.stream_id
      left join active a on a.stream_id = s.stream_id
      left join first_rows r on r.stream_id = s.stream_id
      left join flying f on f.stream_id = s.stream_id
      left join given_up g on g.stream_id = s.stream_id
  )
  select l.name, l.ordered,
         case when l.estimated then round(greatest(l.pending, e.waiting)) else greatest(0, l.pending) end::bigint,
         case when l.estimated then round(greatest(l.due, e.due)) else l.due end::bigint,
         l.in_flight::bigint, l.dead, l.parked, case when l.estimated then coalesce(e.blocked, 0) else l.blocked end,
         coalesce(greatest(0, extract(epoch from now()) - extract(epoch from least(l.wanted_at, e.wanted_at))), 0)::double precision,
         l.stuck::bigint, round(l.lanes)::bigint, round(l.retrying)::bigint, l.estimated
    from line l
   cross join lateral outbox.status_by_index(l.stream_id, l.ordered, l.estimated) e
   order by l.name;
end
$$;
comment on function outbox.status()
  is 'Depth, age, flight and dead letters of each stream; "estimated" marks numbers that are too large to be counted.';
