-- Asks Stripe once for each charge that is still unknown. Renewals need this, because lists of invoices do not name the charge. Charges of
-- checkouts come with their sessions, so only payments at least an hour old are asked about.
create or replace function billing.ask_charges() returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select billing.look(x.workspace_id, 'payment_intent', x.payment_intent, 0)
    from (select p.workspace_id, p.payment_intent from billing.payments p
           where p.charge_id is null and p.payment_intent is not null
             and p.recorded_at between now() - interval '3 days' and now() - interval '1 hour'
             -- Asked about already: Stripe may have no charge, or the question was lost. Skip it, so that it does not keep others from
             -- being asked about.
             and not exists (select from outbox.rows o
                              where o.stream_id = outbox.stream_id('billing') and o.idempotency_key = 'look-0'
                                and o.instruction_id = 'look:payment_intent:' || p.payment_intent)
           order by p.recorded_at limit 200) x;
$$;
comment on function billing.ask_charges() is 'Asks Stripe for charges that are not known.';
