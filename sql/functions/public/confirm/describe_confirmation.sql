-- What the customer's page shows: the offer and its outcome, with the state of its payment and its provisioning. Changes nothing,
-- however often it is called: mail scanners follow links.
--
-- A link is answered once and can be read for ninety days after the answer, or after the deadline has passed.
create or replace function public.describe_confirmation(p_token text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_story jsonb := capacity.confirmation_story(capacity.find_confirmation(p_token));
  v_until timestamptz := coalesce(v_story ->> 'decided_at', v_story ->> 'expires_at')::timestamptz + interval '90 days';
begin
  if v_until <= clock_timestamp() then
    perform headroom.fail('gone', 'This page can no longer be read.', 'unreadable',
                          'Links can be read for 90 days. Ask whoever sent you the link if you need to know more.');
  end if;
  return v_story || jsonb_build_object(
    'readable_until', v_until,
    'provisioning', provisioning.customer_story(v_story ->> 'request_id'),
    'billing', billing.customer_story(v_story ->> 'request_id'));
end
$$;
comment on function public.describe_confirmation(text) is 'The offer behind a confirmation link and its outcome.';
