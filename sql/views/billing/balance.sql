-- The books by day (UTC): what was taken, what went back, what is out because of disputes, and what remains, per workspace and currency.
create or replace view billing.balance with (security_invoker = true) as
select e.workspace_id, e.currency, (e.at at time zone 'UTC')::date as day,
       coalesce(sum(e.amount) filter (where e.kind = 'taken'), 0)::bigint as taken,
       coalesce(-sum(e.amount) filter (where e.kind in ('refunded', 'refund_failed')), 0)::bigint as refunded,
       coalesce(-sum(e.amount) filter (where e.kind in ('disputed', 'dispute_won')), 0)::bigint as disputed,
       sum(e.amount)::bigint as net
  from billing.entries e
 group by e.workspace_id, e.currency, (e.at at time zone 'UTC')::date;
comment on view billing.balance is 'What was taken, refunded and disputed, by workspace, currency and day (UTC).';
