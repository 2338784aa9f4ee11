-- The names of a request's terms where they are typed, in the command and in the form, and in capacity.terms.
create or replace function inbound.term_names() returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select '{
    "size": "requested_size", "quantity": "quantity", "region": "region", "customer": "customer_ref", "needed_by": "needed_by_date",
    "days": "expected_duration_days", "cost": "estimated_monthly_cost_usd", "owner": "commercial_owner_user_id",
    "group": "infra_owner_group", "ttl": "confirmation_ttl_days", "replaces": "replaces_request_id",
    "justification": "justification"}'::jsonb;
$$;
comment on function inbound.term_names() is 'The names of terms in capacity.terms, by the names that people type.';
