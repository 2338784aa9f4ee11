-- What a step means for the customer: they hear when an answer is wanted and, once one was, how it goes on. Where they should be asked and
-- cannot be by mail, those who can fix that are told.
create or replace function capacity.tells_of_offer(p_request capacity.requests, p_state_before public.capacity_request_state) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reach record;
begin
  if p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    v_reach := capacity.customer_reach(p_request.id);
    return case when v_reach.problem is null then '{tell:customer}'
                when capacity.active_of(p_request.workspace_id, capacity.fixers(p_request, v_reach.problem)) <> '{}' then '{tell:fixers}'
                else '{}' end;
  elsif p_state_before in ('CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING') then
    v_reach := capacity.customer_reach(p_request.id);
    return case when v_reach.problem is null then '{tell:customer}' else '{}' end;
  end if;
  return '{}';
end
$$;
comment on function capacity.tells_of_offer(capacity.requests, public.capacity_request_state)
  is 'Whom a step tells for the customer''s sake, as names of side effects.';
