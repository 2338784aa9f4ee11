-- Begins the payment for the holder of the link. Paying is the confirmation: nothing is decided here. The page's address follows a
-- moment later, because Stripe is called outside of any transaction: poll get_checkout for it.
create or replace function public.begin_checkout(p_token text, p_entrance text default 'link') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_token capacity.confirmation_tokens;
  v_request capacity.requests;
  v_story jsonb;
  v_checkout billing.checkouts;
begin
  if p_entrance is null or p_entrance not in ('link', 'wizard') then
    perform headroom.fail('invalid_input', 'The entrance is either "link" or "wizard".');
  end if;
  v_token := capacity.find_confirmation(p_token);
  select r.* into v_request from capacity.requests r where r.id = v_token.request_id for update;
  v_story := capacity.confirmation_story(v_token);
  if v_request.offer is null then
    perform headroom.fail('conflict', 'This offer has no price: it is confirmed without paying.', null, 'Confirm it instead.');
  elsif v_story ->> 'status' <> 'open'
        and (billing.held_until(v_request) is null or (billing.open_checkout(v_request.id)).state is distinct from 'processing') then
    perform headroom.fail('gone', case v_story ->> 'status' when 'expired' then 'The time to answer this offer has passed.'
                                       when 'cancelled' then 'This offer was withdrawn.' when 'confirmed' then 'This offer is paid.'
                                       when 'declined' then 'This offer was declined.'
                                       else 'This offer can no longer be paid.' end,
      v_story ->> 'status', 'Ask whoever sent you the link for a new offer. Nothing was charged.');
  end if;
  v_checkout := billing.begin_checkout(v_request, p_entrance);
  return billing.checkout_json(v_checkout);
end
$$;
comment on function public.begin_checkout(text, text) is 'Opens the payment of an offer by its link, or returns the open one.';
