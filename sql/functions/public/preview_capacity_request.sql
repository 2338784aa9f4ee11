-- What would happen to a request with these terms: who would be asked, by which rule, and where it would be posted. Nothing is
-- written; what would be refused is refused here as well.
create or replace function public.preview_capacity_request(
  p_requester_user_id text,
  p_commercial_owner_user_id text,
  p_infra_owner_group text,
  p_requested_size text,
  p_quantity integer,
  p_region text,
  p_estimated_monthly_cost_usd numeric default null,
  p_workspace_id text default null,
  p_slack_channel_id text default null
) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := coalesce(p_workspace_id, (capacity.caller()).workspace_id, 'default');
  v_actor capacity.actor := capacity.acting('user', p_requester_user_id, v_workspace_id);
  v_plan jsonb;
begin
  perform capacity.check_terms(null, p_requested_size, p_quantity, p_region, null, null, p_estimated_monthly_cost_usd, 7, p_slack_channel_id);
  v_plan := capacity.review_plan(v_workspace_id, v_actor.id, p_commercial_owner_user_id, p_infra_owner_group,
                                 p_requested_size, p_quantity, p_region, p_estimated_monthly_cost_usd);
  return v_plan || jsonb_build_object(
    'state', case when v_plan #> '{commercial,auto}' = 'true' and v_plan #> '{technical,auto}' = 'true'
                  then 'CUSTOMER_CONFIRMATION_REQUIRED' else 'UNDER_REVIEW' end,
    'slack_channel_id', coalesce(p_slack_channel_id, (select w.slack_channel_id from capacity.workspaces w where w.id = v_workspace_id)));
end
$$;
comment on function public.preview_capacity_request(text, text, text, text, integer, text, numeric, text, text)
  is 'The review plan that a request with these terms would get, without making it.';
