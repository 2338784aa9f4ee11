-- Who decided before, in words: the loser of a race, or a person who clicks twice, is told who won.
create or replace function inbound.decided_already(p_context capacity.context, p_verdict capacity.verdict) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_who text := case when p_verdict.decided_by = (p_context.actor).id then 'You'
    else coalesce((select m.display_name from directory.members m
                    where m.workspace_id = v_request.workspace_id and m.id = p_verdict.decided_by), p_verdict.decided_by, 'Somebody') end;
begin
  return format('%s already %s %s, %s. Nothing was changed.', v_who, case p_context.event_type
      when 'COMMERCIAL_APPROVED' then 'approved the commercial review of'
      when 'COMMERCIAL_REJECTED' then 'gave the commercial rejection of'
      when 'TECH_REVIEW_APPROVED' then 'approved the technical review of'
      when 'TECH_REVIEW_REJECTED' then 'gave the technical rejection of'
      when 'CUSTOMER_CONFIRMED' then 'recorded the customer''s confirmation of'
      when 'CUSTOMER_DECLINED' then 'recorded the customer''s refusal of'
      else 'cancelled' end, v_request.id,
    capacity.when_and_where(p_verdict.decided_at, capacity.decided_via(v_request.id, p_context.event_type, p_verdict.decided_at)));
end
$$;
comment on function inbound.decided_already(capacity.context, capacity.verdict) is 'Who took a decision before, and when.';
