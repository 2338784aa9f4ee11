-- The automatic approvals in the plan of a request, right after its submission: by the system, naming the rule.
create or replace function capacity.approve_by_rule(p_request capacity.requests, p_via text) returns capacity.requests
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_request;
  v_step jsonb;
  v_answer record;
begin
  v_step := p_request.review_plan -> 'commercial';
  if v_step -> 'auto' = 'true' then
    v_answer := capacity.decide(p_request.id, 'COMMERCIAL_APPROVED', row('system', 'policy:' || (v_step ->> 'rule'), p_via)::capacity.actor,
                               jsonb_build_object('rule', v_step -> 'rule'));
    v_request := v_answer.request;
  end if;
  v_step := p_request.review_plan -> 'technical';
  if v_step -> 'auto' = 'true' then
    v_answer := capacity.decide(p_request.id, 'TECH_REVIEW_APPROVED',
                               row('system', 'policy:' || (v_step ->> 'rule'), p_via)::capacity.actor,
                               jsonb_build_object('rule', v_step -> 'rule'));
    v_request := v_answer.request;
  end if;
  return v_request;
end
$$;
comment on function capacity.approve_by_rule(capacity.requests, text)
  is 'Gives the automatic approvals of the plan; returns the request after them.';
