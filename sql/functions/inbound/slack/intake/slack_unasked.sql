-- The warning to a person who submitted a request whose customer would get no link, with the remedy; null where they will.
create or replace function inbound.slack_unasked(p_context capacity.context) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_unasked text;
begin
  -- Before the first mail only the address can be the problem, and that is known.
  if v_request.state in ('SUBMITTED', 'UNDER_REVIEW') then
    v_unasked := capacity.reach_problem(p_context);
  else
    v_unasked := capacity.unasked(v_request.id, v_request.state);
  end if;
  return capacity.unasked_words(v_unasked, v_request.state::text) || ' '
    || capacity.unasked_remedy(v_unasked, v_request.id, v_request.state::text, v_request.offer is not null);
end
$$;
comment on function inbound.slack_unasked(capacity.context) is 'A sentence about a customer who will not be asked. Nullable: result.';
