-- Whether colleagues see nothing of a request: its requester is not known, a rule approved all of it, and nobody has paid
-- or confirmed yet. Without this, requests abandoned at that point would fill a channel that anybody could write into.
create or replace function capacity.is_quiet(p_request capacity.requests) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_request.review_plan -> 'quiet' = 'true'
    and not exists (select from capacity.events e where e.request_id = p_request.id and e.event_type = 'CUSTOMER_CONFIRMED');
end
$$;
comment on function capacity.is_quiet(capacity.requests) is 'Whether a request is still kept out of Slack and Linear. Nullable: result.';
