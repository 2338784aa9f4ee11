-- The reviews that an event closes, so that their reviewers can stop. An endorsement leaves the commercial review open
-- for others.
create or replace function capacity.closed_steps(p_request capacity.requests, p_event_type text) returns text[]
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_event_type = 'COMMERCIAL_APPROVED' then '{commercial}'
    when p_event_type = 'TECH_REVIEW_APPROVED' then '{technical}'
    when p_event_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED', 'CANCEL_APPROVED')
      then array_remove(array[case when p_request.commercial_approved_at is null then 'commercial' end,
                              case when p_request.technical_approved_at is null then 'technical' end], null)
    else '{}' end;
end
$$;
comment on function capacity.closed_steps(capacity.requests, text) is 'The reviews that an event closes.';
