-- The dead letters of each stream by rail, for alerts: how many, since when, and with which codes. If a stream has very many, only the
-- newest ten thousand are counted; beyond that nobody needs the exact number. The alerts' own stream is left out: an alert that cannot be
-- sent must not raise another.
create or replace function outbox.dead_by_rail() returns table (
  stream text, rail text, dead integer, parked integer, last_died_at timestamptz, codes jsonb
)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  with counted as (
    select s.name as stream, p.rail_id, d.error_code, count(*)::integer as dead, count(*) filter (where d.parked)::integer as parked,
           max(d.died_at) as last_died_at
      from outbox.streams s
     cross join lateral (
           select x.* from outbox.dead x where x.stream_id = s.stream_id order by x.died_at desc limit 10000) d
      join outbox.payloads p on p.outbox_id = d.outbox_id
     where s.name <> 'alerts'
     group by s.name, p.rail_id, d.error_code
  )
  select c.stream, r.name, sum(c.dead)::integer, sum(c.parked)::integer, max(c.last_died_at), jsonb_object_agg(c.error_code, c.dead)
    from counted c join outbox.rails r on r.rail_id = c.rail_id
   group by c.stream, r.name;
$$;
comment on function outbox.dead_by_rail() is 'Dead letters by stream and rail, with their codes.';
