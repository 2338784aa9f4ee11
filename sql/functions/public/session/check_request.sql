-- Runs before every request over HTTP (PostgREST's db-pre-request, and our gateway). It refuses a provider's or a run's request that is
-- unsigned, malformed or was signed too long ago, before anything is locked or any secret is read. Each receiver has two entrances: our
-- own route, and its function over PostgREST. This sees no body; the receiver makes the full check, which repeats all of this,
-- so another spelling of the path gains nothing.
-- On all other paths it refuses a revoked key or session, before any work is done for it. The function that establishes the caller checks
-- that too (directory.revocation), so nothing depends on this being set up.
--
-- It also switches JIT off for the request: for the plan of a view, unlike a function's, only the session can do that
-- (headroom.switch_off_jit).
create or replace function public.check_request() returns void
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Set in a declaration: an expression costs a fraction of a statement, and this runs before every request.
  v_jit constant text := set_config('jit', 'off', true);
  v_receiver text := '{
    "/webhooks/github": "github", "/rpc/handle_github_webhook": "github",
    "/webhooks/linear": "linear", "/rpc/handle_linear_webhook": "linear",
    "/webhooks/provisioning": "provisioning", "/rpc/handle_provisioning_callback": "provisioning",
    "/webhooks/slack": "slack", "/rpc/handle_slack_webhook": "slack",
    "/webhooks/stripe": "stripe", "/rpc/handle_stripe_webhook": "stripe",
    "/webhooks/postal": "postal"}'::jsonb ->> current_setting('request.path', true);
begin
  if v_receiver is not null then
    perform inbound.require_stamp(v_receiver, null);
  elsif directory.revocation() is not null then
    perform directory.check_api_key();
  end if;
end
$$;
comment on function public.check_request() is 'Refuses receipts that no provider signed, and keys and sessions that were revoked.';
