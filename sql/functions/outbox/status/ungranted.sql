-- Which streams have rows waiting on a guarded rail that they were not granted, and the grant that would release them. At most ten thousand
-- waiting rows with order, and as many without, are counted, as in rail_status().
create or replace function outbox.ungranted() returns table (stream text, rail text, waiting bigint, oldest uuid, grant_text text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.name, r.name, count(*), min(w.outbox_id::text)::uuid, min(w.held ->> 'grant')
    from (select p.outbox_id, p.stream_id, p.rail_id, outbox.not_granted(p) as held
            from ((select x.outbox_id from outbox.pending x limit 10000)
                  union all (select x.outbox_id from outbox.pending_unordered x limit 10000)) i
            join outbox.payloads p on p.outbox_id = i.outbox_id
           where p.rail_id in (select g.rail_id from outbox.rails g where g.guarded)) w
    join outbox.streams s on s.stream_id = w.stream_id
    join outbox.rails r on r.rail_id = w.rail_id
   where w.held is not null
   group by s.name, r.name order by s.name, r.name;
$$;
comment on function outbox.ungranted() is 'Rows that wait for a grant of their rail.';
