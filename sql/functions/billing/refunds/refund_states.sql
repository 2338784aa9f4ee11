-- How far along a refund is: reports move it only forward, in whatever order they come. Failed and cancelled are final, even after it had
-- succeeded. `holds`: its amount is not refunded a second time.
create or replace function billing.refund_states() returns table (state text, rank integer, holds boolean, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('held', 0, true, 'it waits: for the end of a dispute, for another refund of the payment, for the id of the payment at Stripe, or for '
      'a person'),
    ('superseded', 1, false, 'it was not made: another took its place, or nothing was left to refund'),
    ('sent', 1, true, 'Stripe was asked, or will be'),
    ('pending', 2, true, 'Stripe has accepted it'),
    ('succeeded', 3, true, 'the money is on its way to the customer'),
    ('failed', 4, false, 'the money came back to us: it is opened again'),
    ('cancelled', 4, false, 'it was cancelled at Stripe: only a person refunds the money again')
$$;
comment on function billing.refund_states() is 'The states of a refund, and how far along each is.';
