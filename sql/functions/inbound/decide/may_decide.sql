-- Refuses what a member could not decide about a request, before anything is locked or anybody fills in a form. Who sees a request's
-- message in a channel knows that it exists; everybody else is told that there is no such request, unless they may read it.
create or replace function inbound.may_decide(
  p_member directory.members, p_request_id text, p_event_type public.capacity_request_event_type, p_seen boolean
) returns capacity.requests
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_verdict record;
begin
  select r.* into v_request from capacity.requests r where r.id = p_request_id and r.workspace_id = p_member.workspace_id;
  if v_request.id is null or not p_seen and not capacity.may_read(v_request, p_member.id) then
    perform capacity.no_such_request(p_request_id);
  end if;
  if (case p_event_type
        when 'COMMERCIAL_APPROVED' then v_request.commercial_approved_at is not null
        when 'TECH_REVIEW_APPROVED' then v_request.technical_approved_at is not null
        else exists (select from capacity.events e where e.request_id = v_request.id and e.event_type = p_event_type) end) then
    -- A repeat, which the reducer answers with who decided.
    return v_request;
  end if;
  v_verdict := capacity.authorize(row('user', p_member.id, 'slack')::capacity.actor, v_request, p_event_type);
  if v_verdict.allowed is not true then
    perform headroom.fail(v_verdict.code, v_verdict.reason, v_request.id, 'Nothing was changed.');
  elsif not exists (select from capacity.transitions() t where t.state_before = v_request.state and t.event_type = p_event_type) then
    perform inbound.too_late(v_request);
  end if;
  return v_request;
end
$$;
comment on function inbound.may_decide(directory.members, text, public.capacity_request_event_type, boolean)
  is 'The request, if this member could decide this about it now.';
