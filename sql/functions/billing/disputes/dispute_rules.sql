-- What each status of a dispute means, and whether the bank has taken the money. An inquiry takes none. Won and lost are final, unless
-- there is an appeal.
create or replace function billing.dispute_rules() returns table (status text, outcome text, withdrawn boolean, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('warning_needs_response', 'open', false, 'an inquiry: the bank asks'),
    ('warning_under_review', 'open', false, 'an inquiry: the bank is reviewing our answer'),
    ('warning_closed', 'won', false, 'an inquiry that ended without a dispute'),
    ('needs_response', 'open', true, 'the bank has taken the money and waits for our answer'),
    ('under_review', 'open', true, 'the bank is reviewing our answer'),
    ('appeal_needs_response', 'open', true, 'the decision can be appealed, and the bank waits for our answer'),
    ('appeal_under_review', 'open', true, 'the bank is reviewing our appeal'),
    ('won', 'won', false, 'the money is ours again'),
    ('prevented', 'won', false, 'it was prevented before it became a dispute'),
    ('lost', 'lost', true, 'the money stays with the customer: it is treated as refunded')
$$;
comment on function billing.dispute_rules() is 'What each status of a dispute means.';
