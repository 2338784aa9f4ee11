-- What runs before every request over HTTP (PostgREST's db-pre-request, and our gateway): refuses what a provider or a run sends that is
-- not signed, was signed too long ago or is malformed, before anything is locked and any secret is read. It sees no body; the full check
-- is the receiver's. On all other paths it refuses a key or a session that was revoked, before anything is done for it. What establishes
-- who calls asks that too (directory.revocation), so that nothing depends on whether this was set up.
--
-- It also switches JIT off for the request: of a view's plan, unlike a function's, only the session can say so (headroom.switch_off_jit).
create or replace function public.check_request() returns void
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Only to be set: an expression costs a fraction of a statement, and this runs before every request.
  v_jit constant text := set_config('jit', 'off', true);
  v_path text := current_setting('request.path', true);
  v_headers jsonb;
  v_signature text;
  v_problem text;
begin
  if v_path is null or v_path not in ('/rpc/handle_slack_webhook', '/rpc/handle_linear_webhook', '/rpc/handle_github_webhook',
                                            '/rpc/handle_stripe_webhook', '/rpc/handle_provisioning_callback') then
    if directory.revocation() is not null then
      perform directory.check_api_key();
    end if;
    return;
  end if;
  v_headers := headroom.request_headers();
  if v_path = '/rpc/handle_slack_webhook' then
    v_problem := inbound.slack_stamp_problem(v_headers ->> 'x-slack-request-timestamp', v_headers ->> 'x-slack-signature');
  elsif v_path = '/rpc/handle_stripe_webhook' then
    v_problem := inbound.stripe_stamp_problem(v_headers ->> 'stripe-signature');
  elsif v_path = '/rpc/handle_provisioning_callback' then
    v_problem := inbound.callback_stamp_problem(v_headers ->> 'x-headroom-timestamp', v_headers ->> 'x-headroom-signature');
  else
    v_signature := case v_path when '/rpc/handle_linear_webhook' then v_headers ->> 'linear-signature'
                               else v_headers ->> 'x-hub-signature-256' end;
    v_problem := case when v_signature is null then 'The request is not signed.'
                      when v_signature !~ '^(sha256=)?[0-9a-f]{64}$' then 'The signature of the request is malformed.' end;
  end if;
  if v_problem is not null then
    perform headroom.fail('bad_signature', v_problem, null,
                          'Send the request with the signature headers that the provider made. Nothing was written.');
  end if;
end
$$;
comment on function public.check_request() is 'Refuses receipts that no provider signed, and keys and sessions that were revoked.';
