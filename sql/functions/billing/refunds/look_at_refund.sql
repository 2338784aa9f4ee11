-- Does what is due for a refund because time has passed. A held refund is sent if it may be, and finished rows that block it are ended.
-- Stripe is asked about a refund that was given up or has not been reported. A bank may return money for up to 30 days, and the event may
-- get lost, so a refund that succeeded is checked twice more.
create or replace function billing.look_at_refund(p_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_refund billing.refunds;
  v_intent text;
  v_row record;
begin
  select r.* into strict v_refund from billing.refunds r where r.id = p_id;
  if v_refund.state = 'held' and v_refund.held_by <> 'person' then
    perform billing.release_refund(v_refund.payment_id);
    select r.* into strict v_refund from billing.refunds r where r.id = p_id;
  end if;
  perform billing.close_row(o) from billing.refunds o
    where o.payment_id = v_refund.payment_id and o.origin = 'ours' and o.stripe_id is not null;
  select p.payment_intent into v_intent from billing.payments p where p.id = v_refund.payment_id;
  select d.failed, d.sent_at into v_row from outbox.deliveries d where d.outbox_id = v_refund.outbox_id;
  if v_refund.state in ('pending', 'succeeded') or v_refund.state = 'sent' and (v_row.failed or v_row.sent_at is not null) then
    perform billing.look(v_refund.workspace_id, 'refunds', v_intent);
  end if;
  update billing.refunds r
     set looks = r.looks + 1,
         next_look_at = case when r.state in ('held', 'pending') then now() + interval '1 day'
                             when r.state = 'sent' then now() + least(interval '5 minutes' * 2 ^ least(r.looks, 8), interval '6 hours')
                             when r.state = 'succeeded' and now() < r.created_at + interval '30 days'
                             then r.created_at + interval '30 days' end
   where r.id = p_id and r.state not in ('failed', 'cancelled', 'superseded') and r.looks < 32000;
end
$$;
comment on function billing.look_at_refund(uuid) is 'Does what is due for a refund because time has passed.';
