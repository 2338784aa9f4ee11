-- What a step means for the customer: they are notified when an answer is needed, and after it of the progress. Where they should be asked
-- but cannot be by mail, those who can fix that are notified.
create or replace function capacity.tells_of_offer(p_context capacity.context, p_state_before public.capacity_request_state) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_problem text;
begin
  if v_request.state <> 'CUSTOMER_CONFIRMATION_REQUIRED'
     and p_state_before not in ('CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING') then
    return '{}';
  end if;
  v_problem := capacity.reach_problem(p_context);
  return case
    when v_problem is null then '{tell:customer}'
    when v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
         and capacity.active_of(v_request.workspace_id, capacity.fixers(v_request, v_problem)) <> '{}' then '{tell:fixers}'
    else '{}' end;
end
$$;
comment on function capacity.tells_of_offer(capacity.context, public.capacity_request_state)
  is 'The notifications of a step that concern the customer, as names of side effects.';
