-- A request after a decision, as the view shows it: built from the decision's context instead of read back. The columns of the request and
-- of its personal data are copied by name, so only what the view joins is listed here. Only for the functions that decide; no role may
-- call it.
create or replace function public.request_row(p_context capacity.context) returns public.capacity_requests
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
begin
  return jsonb_populate_record(null::public.capacity_requests,
    to_jsonb(v_request) || coalesce(to_jsonb(p_context.personal), '{}') || jsonb_build_object(
      'slack_thread_ts', p_context.slack_thread_ts, 'linear_issue_id', p_context.linear_issue_id, 'customer_id', p_context.customer_id,
      'last_notified_at', greatest(p_context.last_delivered_at,
                                   case when p_context.told_directly then capacity.last_told(v_request.id) end),
      'cancellation_reason', capacity.free_text(v_request.id, v_request.cancellation_reason_hash),
      'rejection_reason', capacity.free_text(v_request.id, v_request.rejection_reason_hash),
      'customer_unasked', case when v_request.state in ('SUBMITTED', 'UNDER_REVIEW') then capacity.reach_problem(p_context)
                               else capacity.unasked(v_request.id, v_request.state) end));
end
$$;
comment on function public.request_row(capacity.context) is 'A request after a decision, as the view shows it.';
