-- Stripe has made a refund whose row was given up before anybody knew: the row is ended, because it would hold up the payment's lane, and
-- with it whatever else of the payment has to go back. A lane that somebody holds at this moment is left for the next look.
create or replace function billing.close_row(p_refund billing.refunds) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_why constant text := 'Stripe tells of this refund.';
  v_uncertain boolean := (select d.in_doubt from outbox.deliveries d
                           where d.outbox_id = p_refund.outbox_id and d.failed and d.sent_at is null
                             and not exists (select from outbox.lines l where l.outbox_id = d.outbox_id and l.state = 'SKIPPED'));
begin
  if v_uncertain then
    perform outbox.resolve_dead(p_refund.outbox_id, true, 'billing', v_why, p_refund.stripe_id);
  elsif v_uncertain is not null then
    perform from outbox.skip(array[p_refund.outbox_id], 'billing', v_why);
  end if;
end
$$;
comment on function billing.close_row(billing.refunds) is 'Ends the row of a refund that was given up and that Stripe has made.';
