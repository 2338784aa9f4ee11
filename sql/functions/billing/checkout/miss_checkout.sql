-- Stripe has no page for a checkout whose call was given up with an unknown outcome: none was made, and another checkout may begin. Stripe
-- must have been asked at least five minutes after the last try, because until then it may still finish that try.
create or replace function billing.miss_checkout(p_id uuid, p_seen_at timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checkout billing.checkouts;
begin
  select c.* into v_checkout from billing.checkouts c where c.id = p_id and c.session_id is null;
  if v_checkout.id is null or not billing.is_given_up('billing', p_id::text, 'create')
     or p_seen_at < (select max(l.recorded_at) + interval '5 minutes'
                       from outbox.rows o join outbox.lines l on l.outbox_id = o.outbox_id
                      where o.stream_id = outbox.stream_id('billing') and o.instruction_id = p_id::text
                        and o.idempotency_key = 'create') then
    return;
  elsif v_checkout.state = 'asked' then
    perform billing.tell_no_page(billing.move_checkout(v_checkout, 'GIVEN_UP'));
  elsif v_checkout.state = 'abandoned' then
    perform billing.move_checkout(v_checkout, 'EXPIRED');
  end if;
end
$$;
comment on function billing.miss_checkout(uuid, timestamptz) is 'Ends a checkout for which Stripe has no page.';
