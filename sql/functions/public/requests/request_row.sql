-- A request after a decision, as the view shows it: made from what the decision knew, rather than read back. For the functions that decide;
-- nobody else may call it.
create or replace function public.request_row(p_context capacity.context) returns public.capacity_requests
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
begin
  return row(
    v_request.id, v_request.version, v_request.state, v_request.created_at, v_request.updated_at, v_request.requester_user_id,
    v_request.commercial_owner_user_id, v_request.infra_owner_group, p_context.customer_ref, v_request.requested_size, v_request.quantity,
    v_request.region, v_request.needed_by_date, v_request.expected_duration_days, v_request.estimated_monthly_cost_usd,
    v_request.commercial_approved_at, v_request.technical_approved_at, v_request.next_deadline_at, v_request.confirmation_ttl_days,
    v_request.slack_channel_id, p_context.slack_thread_ts, p_context.linear_issue_id,
    greatest(p_context.last_delivered_at, case when p_context.told_directly then capacity.last_told(v_request.id) end),
    capacity.free_text(v_request.id, v_request.cancellation_reason_hash), v_request.cancellation_authorizer_user_id,
    v_request.workspace_id, v_request.state_since,
    v_request.replaces_request_id, v_request.review_plan, v_request.commercial_endorsed_at, v_request.commercial_endorsed_by,
    v_request.commercial_approved_by, v_request.technical_approved_by, capacity.free_text(v_request.id, v_request.rejection_reason_hash),
    case when v_request.state in ('SUBMITTED', 'UNDER_REVIEW') then capacity.reach_problem(p_context)
         else capacity.unasked(v_request.id, v_request.state) end,
    p_context.customer_id, v_request.offer)::public.capacity_requests;
end
$$;
comment on function public.request_row(capacity.context) is 'A request after a decision, as the view shows it.';
