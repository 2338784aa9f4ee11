-- Figures of each channel, for metrics and alerts: how many parts are held, how long the oldest has been due, and of its last thousand
-- messages within an hour how many went out, failed or wait, how many further tries that took and how long. The limit of a thousand keeps
-- the cost of a scrape constant. Suppressed addresses are counted only for mail.
create or replace function notify.channel_figures() returns table (
  channel text, held bigint, oldest_due_seconds double precision, sent bigint, failed bigint, waiting bigint, retries bigint,
  median_seconds double precision, slowest_seconds double precision, suppressed bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select c.channel, h.held, coalesce(extract(epoch from clock_timestamp() - h.oldest), 0)::double precision, r.sent, r.failed, r.waiting,
         r.retries, r.median, r.slowest,
         case c.channel when 'email' then (select count(*) from notify.suppressions s where s.lifted_at is null) else 0 end
    from (select n.channel from notify.channels n where n.leaves) c
   cross join lateral (select count(*) as held, min(p.due_at) filter (where p.due_at <= clock_timestamp()) as oldest
                         from notify.parts p where p.state = 'held' and p.channel = c.channel) h
   cross join lateral (
         select count(*) filter (where f.went and not f.bad) as sent, count(*) filter (where f.bad) as failed,
                count(*) filter (where not f.went and not f.bad) as waiting, coalesce(sum(greatest(f.tries - 1, 0)), 0)::bigint as retries,
                coalesce(percentile_cont(0.5) within group (order by f.took), 0) as median,
                coalesce(percentile_cont(0.95) within group (order by f.took), 0) as slowest
           from (select o.sent_at is not null as went,
                        coalesce(o.failed, false) or coalesce(d.outcome in ('bounced', 'complained'), false) as bad,
                        coalesce(o.tries, 0) as tries, extract(epoch from o.sent_at - d.released_at)::double precision as took
                   from (select l.* from notify.deliveries l
                          where l.channel = c.channel and l.released_at > clock_timestamp() - interval '1 hour'
                          order by l.released_at desc limit 1000) d
                   left join outbox.deliveries o on o.outbox_id = d.outbox_id) f) r;
$$;
comment on function notify.channel_figures() is 'Figures of each channel.';
