-- Asks Stripe whether it has a page for a checkout, where nobody knows its id. The number makes each look a new question.
create or replace function billing.look_for_checkout(p_checkout billing.checkouts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := 'look:checkout:' || p_checkout.id;
begin
  perform billing.ask_stripe(
    p_checkout.workspace_id, 'billing', v_name, v_name, 'look-' || p_checkout.looks + 1,
    jsonb_build_object('operation', 'look', 'kind', 'checkout', 'id', p_checkout.id,
                       'since', extract(epoch from p_checkout.created_at)::bigint),
    'seen', p_expires_at => clock_timestamp() + interval '30 minutes');
end
$$;
comment on function billing.look_for_checkout(billing.checkouts) is 'Asks Stripe whether it has a page for a checkout.';
