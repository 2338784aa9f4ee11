-- How the money of a request stands, in words.
create or replace function billing.state_words(p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return '{
    "due": "to be paid",
    "held": "paid, but not what was asked for",
    "processing": "payment processing",
    "paid": "paid",
    "partly_refunded": "paid, and refunded in part",
    "refunding": "being refunded",
    "refunded": "refunded",
    "refund_held": "a refund waits",
    "disputed": "disputed by the customer",
    "lost": "lost in a dispute",
    "unpaid": "never paid"}'::jsonb ->> p_state;
end
$$;
comment on function billing.state_words(text) is 'How money stands, as messages say it. Nullable: result.';
