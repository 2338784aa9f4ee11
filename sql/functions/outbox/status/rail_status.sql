-- The rails as people see them: how long ago a relay that serves each was last seen, and how many rows wait for it. At most ten thousand
-- waiting rows with order, and as many without, are counted: what matters is whether any wait.
create or replace function outbox.rail_status()
returns table (rail text, capability text, served_seconds_ago double precision, waiting bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with waiting as (
    select p.rail_id, count(*) as n
      from ((select x.outbox_id from outbox.pending x limit 10000)
            union all (select x.outbox_id from outbox.pending_unordered x limit 10000)) w
      join outbox.payloads p on p.outbox_id = w.outbox_id
     group by p.rail_id
  )
  select r.name, r.capability, extract(epoch from now() - r.served_at)::double precision, coalesce(w.n, 0)
    from outbox.rails r left join waiting w on w.rail_id = r.rail_id
   order by r.name;
$$;
comment on function outbox.rail_status() is 'When each rail was last served, and how many rows wait for it. Nullable: served_seconds_ago.';
