-- How much money waits, for what, and since when the oldest does: for metrics and alerts. Two states are not in the list: `unreconciled`,
-- how long ago the last complete comparison with Stripe began, and `books`, how many payments do not add up with their entries. It checks
-- the payments that moved last: the newest of each workspace, and those of the newest entries. They are few enough to check every minute;
-- `headroom verify` checks all.
create or replace function billing.waiting_counts() returns table (state text, waiting bigint, oldest_seconds double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select s.state, count(w.since), coalesce(extract(epoch from clock_timestamp() - min(w.since)), 0)::double precision
    from billing.waiting_states() s left join billing.waiting w on w.state = s.state group by s.state
  union all
  select 'unreconciled', count(x.since), coalesce(extract(epoch from clock_timestamp() - max(x.since)), 0)::double precision
    from (select coalesce((select max(r.asked_at) from billing.reconciliations r where r.asked_by = 'sweep' and r.cursor is null),
                          (select min(c.created_at) from billing.checkouts c)) as since) x
  union all
  select 'books', count(distinct v.subject), 0::double precision
    from billing.verify_books(array(
      select n.id
        from directory.workspaces w
       cross join lateral (select p.id from billing.payments p where p.workspace_id = w.id
                            order by p.recorded_at desc, p.id desc limit 200) n
      union
      select e.payment_id from (select * from billing.entries o order by o.id desc limit 1000) e)) v;
end
$$;
comment on function billing.waiting_counts() is 'Money that waits for something, by what it waits for.';
