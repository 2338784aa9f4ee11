-- A state in words.
create or replace function capacity.story_state(p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce('{
    "SUBMITTED": "submitted",
    "UNDER_REVIEW": "under review",
    "CUSTOMER_CONFIRMATION_REQUIRED": "waiting for the customer",
    "PROVISIONING": "being provisioned",
    "COMPLETED": "completed",
    "REJECTED": "rejected",
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
    "FAILED": "failed"}'::jsonb ->> p_state, 'unknown');
end
$$;
comment on function capacity.story_state(text) is 'A state in words, as messages say it.';
