-- Why money is refunded, in words: for the thread, and for the documentation.
create or replace function billing.refund_reasons() returns table (reason text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('late', 'it was paid after the offer had ended'),
    ('cancelled', 'the request was cancelled'),
    ('declined', 'the customer had declined the offer'),
    ('duplicate', 'the request was already paid'),
    ('price_withdrawn', 'the price was withdrawn'),
    ('failed', 'the capacity could not be provided'),
    ('ended', 'the subscription had ended'),
    ('unmatched', 'nothing was offered for it'),
    ('person', 'a person decided so')
$$;
comment on function billing.refund_reasons() is 'Why payments are refunded.';
