-- Creates a request and submits it, in one transaction. A member asks for themselves; a service names the member for whom it asks.
-- The answer is UNDER_REVIEW, or a later state where rules approve automatically.
create or replace function public.create_capacity_request(
  p_requester_user_id text,
  p_commercial_owner_user_id text,
  p_infra_owner_group text,
  p_customer_ref jsonb,
  p_requested_size text,
  p_quantity integer,
  p_region text,
  p_needed_by_date date,
  p_expected_duration_days integer,
  p_estimated_monthly_cost_usd numeric default null,
  p_confirmation_ttl_days integer default 7,
  p_workspace_id text default null,
  p_slack_channel_id text default null,
  p_idempotency_key text default null,
  p_replaces_request_id text default null,
  p_customer_id text default null,
  p_justification text default null
) returns public.capacity_requests
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := coalesce(p_workspace_id, (directory.caller()).workspace_id, 'default');
  v_actor capacity.actor := capacity.acting('user', p_requester_user_id, v_workspace_id);
  v_workspace directory.workspaces;
  v_terms constant capacity.terms := row(
    p_commercial_owner_user_id, p_infra_owner_group, p_customer_ref, p_requested_size, p_quantity, p_region, p_needed_by_date,
    p_expected_duration_days, p_estimated_monthly_cost_usd, p_confirmation_ttl_days, p_slack_channel_id, p_replaces_request_id,
    p_customer_id, p_justification);
  v_answer record;
begin
  select w.* into v_workspace from directory.workspaces w where w.id = v_workspace_id;
  v_answer := capacity.submit(v_actor, v_workspace, v_terms, p_idempotency_key);
  return public.request_row(v_answer.context);
end
$$;
comment on function public.create_capacity_request(
  text, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text, text, text, text
) is 'Creates a capacity request and submits it for review.';
