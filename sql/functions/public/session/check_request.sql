-- What runs before every request over HTTP (PostgREST's db-pre-request, and our gateway): refuses what a provider or a run sends that is
-- not signed, was signed too long ago or is malformed, before anything is locked and any secret is read. Each receiver has two ways in: our
-- own route, and its function over PostgREST. This sees no body; the full check is the receiver's, which also refuses all of this by
-- itself, so nothing is gained by another spelling of the path.
-- On all other paths it refuses a key or a session that was revoked, before anything is done for it. What establishes who calls asks that
-- too (directory.revocation), so that nothing depends on whether this was set up.
--
-- It also switches JIT off for the request: of a view's plan, unlike a function's, only the session can say so (headroom.switch_off_jit).
create or replace function public.check_request() returns void
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Only to be set: an expression costs a fraction of a statement, and this runs before every request.
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
