-- Since when a review has been waiting for those who are asked now: since the submission, or, once the owner has endorsed it, since
-- the moment when the higher authority was asked.
create or replace function capacity.timer_since(p_request capacity.requests, p_step text) returns timestamptz
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_step when 'commercial' then coalesce(p_request.commercial_endorsed_at, p_request.state_since)
              else p_request.state_since end;
end
$$;
comment on function capacity.timer_since(capacity.requests, text) is 'When the clock of a review step began to run.';
