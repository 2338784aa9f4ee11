-- Asks Stripe to close the page of a checkout. The call is in the lane of the request, so it comes after the call that made the page and
-- before one that makes another. If Stripe has not answered that call yet, the id is filled in from its answer. Each key is one question.
create or replace function billing.close_page(p_checkout billing.checkouts, p_key text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform billing.ask_stripe(jsonb_build_object(
    'workspace_id', p_checkout.workspace_id, 'stream', 'billing', 'key', 'checkout:' || p_checkout.request_id,
    'instruction_id', p_checkout.id, 'idempotency_key', p_key,
    'payload', jsonb_strip_nulls(jsonb_build_object('operation', 'checkout.expire', 'session_id', p_checkout.session_id)),
    'capture', 'ended:' || p_checkout.id,
    'binds', case when p_checkout.session_id is null
                  then jsonb_build_array(jsonb_build_object('path', '["session_id"]'::jsonb, 'capture', 'id:' || p_checkout.id)) end));
end
$$;
comment on function billing.close_page(billing.checkouts, text) is 'Enqueues the call that closes a checkout''s page.';
