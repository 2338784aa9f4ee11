-- One line per stream of what a person and a metric want to know. Pending rows are counted in one pass, without their
-- payloads, at about half a second per million; all else follows the number of lanes, leases and dead letters, and nothing
-- follows the archive. On one core only: whoever looks must not slow down what is looked at.
--
-- pending: not in flight. due: what could be sent now (rows without order; lanes with it). stuck: in flight although the
-- lease is over. The oldest row's age counts from when it was wanted: enqueued, or its not-before if it has not been tried.
create or replace function outbox.status()
returns table (
  stream text, ordered boolean, pending bigint, due bigint, in_flight bigint, dead bigint, parked bigint, blocked_lanes bigint,
  oldest_pending_age_seconds double precision, stuck bigint, lanes bigint, retrying bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off set work_mem = '64MB' set max_parallel_workers_per_gather = 0
as $$
  with ordered_rows as (
    select l.stream_id, count(*) as n, count(*) filter (where p.tries > 0) as retrying,
           min(case when p.lines = 0 then p.due else outbox.id_time(p.outbox_id) end) as wanted_at
      from outbox.pending p join outbox.lanes l on l.lane_id = p.lane_id group by l.stream_id
  ), rows_apart as (
    select u.stream_id, count(*) as n, count(*) filter (where u.due <= now()) as due, count(*) filter (where u.tries > 0) as retrying,
           min(case when u.lines = 0 then u.due else outbox.id_time(u.outbox_id) end) as wanted_at
      from outbox.pending_unordered u group by u.stream_id
  ), active as (
    select h.stream_id, count(*) as lanes, count(*) filter (where h.blocked) as blocked,
           count(*) filter (where h.claim_id is null and not h.blocked and h.due <= now() and h.head_seq > 0) as due
      from outbox.heads h group by h.stream_id
  ), flying as (
    select c.stream_id, sum(coalesce(f.n, c.open)) as n, sum(coalesce(f.n, c.open)) filter (where c.lease_until < now()) as stuck
      from outbox.claims c
      left join lateral (
           select count(*) as n
             from outbox.heads h join outbox.pending p on p.lane_id = h.lane_id and p.seq between h.head_seq and h.claimed_to
            where h.lane_id = any (c.lane_ids) and h.claim_id = c.claim_id) f on c.lane_ids is not null
     group by c.stream_id
  ), given_up as (
    select d.stream_id, count(*) as n, count(*) filter (where d.parked) as parked from outbox.dead d group by d.stream_id
  )
  select s.name, s.ordered,
         case when s.ordered then greatest(0, coalesce(o.n, 0) - coalesce(f.n, 0)) else coalesce(u.n, 0) end::bigint,
         coalesce(a.due, u.due, 0), coalesce(f.n, 0)::bigint, coalesce(g.n, 0), coalesce(g.parked, 0), coalesce(a.blocked, 0),
         coalesce(greatest(0, extract(epoch from now() - coalesce(o.wanted_at, u.wanted_at))), 0)::double precision,
         coalesce(f.stuck, 0)::bigint, coalesce(a.lanes, 0), coalesce(o.retrying, u.retrying, 0)::bigint
    from outbox.streams s
    left join ordered_rows o on o.stream_id = s.stream_id
    left join rows_apart u on u.stream_id = s.stream_id
    left join active a on a.stream_id = s.stream_id
    left join flying f on f.stream_id = s.stream_id
    left join given_up g on g.stream_id = s.stream_id
   order by s.name;
$$;
comment on function outbox.status() is 'Depth, age, flight and dead letters of each stream.';
