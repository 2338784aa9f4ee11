-- Does what is due for a checkout because time has passed. Stripe's answer is applied. If its webhook did not come, Stripe is asked at
-- growing intervals, and again soon after the page's end. A checkout that began while its price was being withdrawn is ended. If it is
-- unknown whether Stripe made the page, the page is searched for, every two minutes at first. Both stop three months after the page's end.
create or replace function billing.look_at_checkout(p_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_before billing.checkouts;
  v_checkout billing.checkouts;
begin
  select c.* into strict v_before from billing.checkouts c where c.id = p_id;
  v_checkout := billing.take_answer(v_before);
  if v_checkout.state in ('asked', 'open')
     and (select billing.is_withdrawn(r.offer) from capacity.requests r where r.id = v_checkout.request_id) then
    perform billing.abandon_checkout(v_checkout);
    return;
  elsif v_checkout.state = 'failed' then
    perform billing.tell_no_page(v_checkout);
    return;
  elsif v_checkout.session_id is null and billing.is_in_doubt('billing', v_checkout.id::text, 'create') then
    perform billing.look(v_checkout.workspace_id, 'checkout', v_checkout.id::text, v_checkout.looks + 1, v_checkout.created_at);
    update billing.checkouts c
       set looks = least(c.looks + 1, 32000),
           next_look_at = case when c.expires_at < now() - interval '90 days' then 'infinity'
                               else now() + least(interval '2 minutes' * 2 ^ least(c.looks / 5, 8), interval '6 hours') end
     where c.id = p_id;
    return;
  elsif v_checkout.state = 'abandoned' and v_checkout.session_id is null
        and billing.is_given_up('billing', v_checkout.id::text, 'create') then
    perform billing.move_checkout(v_checkout, 'EXPIRED');
    return;
  elsif v_checkout.session_id is not null then
    perform billing.look(v_checkout.workspace_id, 'session', v_checkout.session_id, v_checkout.looks + 1);
    update billing.checkouts c set looks = least(c.looks + 1, 32000) where c.id = p_id;
  end if;
  update billing.checkouts c
     -- Three months after the end of its page Stripe has nothing new to report.
     set next_look_at = case
           when c.expires_at < now() - interval '90 days' then 'infinity'
           else least(now() + least(interval '10 minutes' * 2 ^ least(c.looks, 8), interval '6 hours'),
                      case when c.expires_at > now() then c.expires_at + interval '5 minutes' end) end
   where c.id = p_id;
end
$$;
comment on function billing.look_at_checkout(uuid) is 'Does what is due for a checkout because time has passed.';
