-- Whether a payment counts (null), or why it is refunded. Pure; the documentation is generated from a table of its answers.
--
-- p_declined: the customer declined. p_bought: another payment has bought the request. p_in_time: it was paid, or under way, before the
-- deadline. p_matches: it is what was offered.
create or replace function billing.judge_payment(
  p_state text, p_declined boolean, p_bought boolean, p_withdrawn boolean, p_in_time boolean, p_matches boolean
) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_bought then 'duplicate'
    when p_state = 'CANCELLED' and p_declined then 'declined'
    when p_state = 'CANCELLED' then 'cancelled'
    when p_state = 'EXPIRED' then 'late'
    when p_state = 'FAILED' then 'failed'
    when p_state <> 'CUSTOMER_CONFIRMATION_REQUIRED' or not p_matches then 'unmatched'
    when p_withdrawn then 'price_withdrawn'
    when not p_in_time then 'late' end;
end
$$;
comment on function billing.judge_payment(text, boolean, boolean, boolean, boolean, boolean)
  is 'Why a payment is refunded, or null when it counts. Nullable: result.';
