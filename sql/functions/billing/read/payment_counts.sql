-- How much money waits for something, and since when the oldest does: for metrics and alerts.
create or replace function billing.payment_counts() returns table (state text, payments bigint, oldest_seconds double precision)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select k.state, count(x.at), coalesce(extract(epoch from clock_timestamp() - min(x.at)), 0)::double precision
    from unnest(array['processing', 'refund_sent', 'refund_held', 'disputed', 'past_due', 'finding', 'unread']) k(state)
    left join (
      select 'processing' as state, c.processing_since as at from billing.checkouts c where c.state = 'processing'
      union all
      select case r.state when 'held' then 'refund_held' else 'refund_sent' end, r.created_at from billing.refunds r
       where r.state in ('held', 'sent', 'pending') and r.next_look_at is not null
      union all
      select 'disputed', d.opened_at from billing.disputes d where d.outcome = 'open'
      union all
      select 'past_due', s.updated_at from billing.subscriptions s where s.state in ('past_due', 'unpaid') and s.next_look_at is not null
      union all
      select 'finding', f.found_at from billing.findings f where f.resolved_at is null
      union all
      select 'unread', s.seen_at from billing.sightings s) x on x.state = k.state
   group by k.state;
$$;
comment on function billing.payment_counts() is 'Money that waits for something, by what it waits for.';
