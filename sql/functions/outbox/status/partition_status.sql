-- How far ahead the archive has partitions, per retention class, without a gap from now on. Watch this: a row whose partition is missing
-- cannot be claimed.
create or replace function outbox.partition_status()
returns table (
  class text, retain_days integer, partitions bigint, oldest_at timestamptz, covered_until timestamptz, days_ahead double precision
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with leaf as (
    select p.class_id, p.from_at, p.to_at,
           p.from_at > coalesce(lag(p.to_at) over (partition by p.class_id order by p.from_at), p.from_at) as gap
      from outbox.archive_partitions() p
  ), island as (
    select l.class_id, l.from_at, l.to_at, count(*) filter (where l.gap) over (partition by l.class_id order by l.from_at) as n from leaf l
  ), current_one as (
    select i.class_id, max(i.to_at) as covered_until
      from island i
     where (i.class_id, i.n) in (select j.class_id, j.n from island j where now() >= j.from_at and now() < j.to_at)
     group by i.class_id
  )
  select c.name, c.retain_days, (select count(*) from leaf l where l.class_id = c.class_id),
         (select min(l.from_at) from leaf l where l.class_id = c.class_id), o.covered_until,
         coalesce(extract(epoch from o.covered_until - now()) / 86400, 0)::double precision
    from outbox.retention_classes c left join current_one o on o.class_id = c.class_id
   order by c.class_id;
$$;
comment on function outbox.partition_status()
  is 'Days ahead that the archive has partitions for; without any, claims stop. Nullable: retain_days, oldest_at, covered_until.';
