-- Moves a checkout on an event; nothing else writes its state. Null when the event changes nothing. The caller has locked the request.
create or replace function billing.move_checkout(p_checkout billing.checkouts, p_event text, p_at timestamptz default clock_timestamp())
returns billing.checkouts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_after text := (select t.state_after from billing.checkout_transitions() t
                    where t.state_before = p_checkout.state and t.event = p_event);
  v_checkout billing.checkouts;
begin
  update billing.checkouts c
     set state = v_after,
         ended_at = case when v_after in ('asked', 'open', 'processing') then null else coalesce(c.ended_at, clock_timestamp()) end,
         -- A payment that failed was under way, even if no event had said so.
         processing_since = case when v_after = 'processing' or p_event = 'FAILED' then least(c.processing_since, p_at)
                                 else c.processing_since end,
         -- Check an abandoned checkout soon: Stripe has not confirmed its end yet.
         next_look_at = case when v_after = 'abandoned' then clock_timestamp() + interval '5 minutes' else c.next_look_at end
   where c.id = p_checkout.id and v_after is not null
  returning c.* into v_checkout;
  return v_checkout;
end
$$;
comment on function billing.move_checkout(billing.checkouts, text, timestamptz)
  is 'Moves a checkout where its table allows it. Nullable: result.';
