-- Whether a request's issue in Linear was made, or is about to be: without it there is nothing to comment on. Its first event makes it, or,
-- of a request that was quiet, its confirmation.
create or replace function capacity.has_issue(p_request capacity.requests) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from capacity.events e
     where e.request_id = p_request.id and 'linear:issue' = any (e.effects)
       and (e.seq = 1 or p_request.review_plan -> 'quiet' = 'true' and e.event_type = 'CUSTOMER_CONFIRMED'));
end
$$;
comment on function capacity.has_issue(capacity.requests) is 'Whether a request has an issue in Linear.';
