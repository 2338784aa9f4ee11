-- Whether an object would bring in money of Stripe's test mode although this installation accepts live payments.
-- billing.apply_stripe_object() checks this once for everything that Stripe reports; refunds and disputes bring nothing in, and belong to
-- their payment. The first object of ours in live mode is recorded: from then on the installation is live. Other objects in the account do
-- not make it live, and live money is never refused.
create or replace function billing.is_play_money(p_object jsonb) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request_id text;
begin
  if coalesce(p_object ->> 'object' not in ('checkout.session', 'invoice'), true) then
    return false;
  elsif p_object -> 'livemode' = 'true' and exists (select from billing.installation i where i.live_since is null) then
    v_request_id := billing.request_of(p_object);
    if v_request_id is not null then
      -- Lock the request first, as everywhere: a sweep that holds it may be about to record the same.
      perform billing.lock_request(v_request_id);
      update billing.installation i set live_since = clock_timestamp() where i.live_since is null;
    end if;
  end if;
  return p_object -> 'livemode' = 'false' and exists (select from billing.installation i where i.live_since is not null);
end
$$;
comment on function billing.is_play_money(jsonb) is 'Whether an object would bring in money of the test mode.';
