-- What would happen to a request with these terms: its cost, who would be asked, by which rule, where it would be posted, and
-- why its customer would get no link. Nothing is written; terms that would be refused are refused here as well.
create or replace function public.preview_capacity_request(
  p_requester_user_id text,
  p_commercial_owner_user_id text,
  p_infra_owner_group text,
  p_requested_size text,
  p_quantity integer,
  p_region text,
  p_estimated_monthly_cost_usd numeric default null,
  p_workspace_id text default null,
  p_slack_channel_id text default null,
  p_customer_ref jsonb default null,
  p_customer_id text default null,
  p_expected_duration_days integer default null,
  p_justification text default null
) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := coalesce(p_workspace_id, (directory.caller()).workspace_id, 'default');
  v_actor capacity.actor := capacity.acting('user', p_requester_user_id, v_workspace_id);
  v_workspace directory.workspaces;
  v_terms capacity.terms := row(
    p_commercial_owner_user_id, p_infra_owner_group, p_customer_ref, p_requested_size, p_quantity, p_region, null,
    p_expected_duration_days, p_estimated_monthly_cost_usd, 7, p_slack_channel_id, null, p_customer_id, p_justification);
  v_good boolean;
  v_plan jsonb;
  v_request capacity.requests;
  v_asked jsonb;
  v_cost_usd numeric := p_estimated_monthly_cost_usd;
begin
  select w.* into v_workspace from directory.workspaces w where w.id = v_workspace_id;
  v_terms := capacity.check_terms(v_terms);
  v_good := capacity.check_channel(v_workspace, v_actor.via, p_slack_channel_id);
  v_request.offer := capacity.offer_for(v_workspace_id, p_requested_size, p_quantity, p_region, p_expected_duration_days);
  if v_request.offer is not null then
    v_cost_usd := (v_request.offer ->> 'monthly_usd')::numeric;
  end if;
  v_plan := capacity.review_plan(v_workspace_id, v_actor.id, p_commercial_owner_user_id, p_infra_owner_group,
                                 p_requested_size, p_quantity, p_region, v_cost_usd);
  -- The request as it would be, so that the preview asks the same people.
  v_request.workspace_id := v_workspace_id;
  v_request.state := 'UNDER_REVIEW';
  v_request.requester_user_id := v_actor.id;
  v_request.commercial_owner_user_id := v_plan #>> '{commercial,owner}';
  v_request.infra_owner_group := v_plan #>> '{technical,group}';
  v_request.review_plan := v_plan;
  select jsonb_object_agg(s.step, v_plan -> s.step
                          || jsonb_build_object('asked', jsonb_path_query_array(coalesce(a.asked, '[]'), '$[0 to 49]')))
    into v_asked
    from (values ('commercial'), ('technical')) s(step)
    left join (select n.step, jsonb_agg(jsonb_build_object('id', n.member_id, 'name', n.name, 'reason', n.reason,
                                                           'stands_for', n.stands_for)
                                        order by n.member_id) as asked
                 from capacity.asked_now(v_request) n where n.asked group by n.step) a on a.step = s.step;
  return v_asked || jsonb_build_object(
    'offer', v_request.offer, 'justification', v_terms.justification,
    'state', case when v_plan #> '{commercial,auto}' = 'true' and v_plan #> '{technical,auto}' = 'true'
                  then 'CUSTOMER_CONFIRMATION_REQUIRED' else 'UNDER_REVIEW' end,
    'slack_channel_id', coalesce(p_slack_channel_id, v_workspace.slack_channel_id),
    'customer_unasked', capacity.address_problem(p_customer_ref -> 'email', v_workspace.public_url));
end
$$;
comment on function public.preview_capacity_request(
  text, text, text, text, integer, text, numeric, text, text, jsonb, text, integer, text
) is 'The review plan that a request with these terms would get, without making it.';
