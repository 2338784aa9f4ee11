-- Until when an offer waits past its deadline for a payment that began before the deadline and is being processed: some days, not forever.
-- Null if there is no such payment.
create or replace function billing.held_until(p_request capacity.requests) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select p_request.next_deadline_at + (billing.settings_of(p_request.workspace_id)).hold_days * interval '1 day'
   where p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
     and exists (select from billing.checkouts c
                  where c.request_id = p_request.id and c.state in ('processing', 'abandoned')
                    and c.processing_since <= p_request.next_deadline_at);
$$;
comment on function billing.held_until(capacity.requests) is 'Until when an offer waits for a payment under way. Nullable: result.';
