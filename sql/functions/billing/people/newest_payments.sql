-- The payments that moved last: the newest of each workspace, and those of the newest entries. Few enough to be looked at every minute;
-- `headroom verify` looks at all.
create or replace function billing.newest_payments() returns uuid[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct x.id), '{}')
    from (select n.id
            from directory.workspaces w
           cross join lateral (select p.id from billing.payments p where p.workspace_id = w.id
                                order by p.recorded_at desc, p.id desc limit 200) n
          union all
          select e.payment_id from (select * from billing.entries o order by o.id desc limit 1000) e) x;
$$;
comment on function billing.newest_payments() is 'The payments that moved last.';
