-- What is said to whoever submitted a request whose customer would get no link, and how to fix it; null where they will.
create or replace function inbound.slack_unasked(p_request capacity.requests) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_unasked text := capacity.unasked(p_request.id, p_request.state);
begin
  return capacity.unasked_words(v_unasked, p_request.state::text) || ' '
    || capacity.unasked_remedy(v_unasked, p_request.id, p_request.state::text);
end
$$;
comment on function inbound.slack_unasked(capacity.requests) is 'A sentence about a customer who will not be asked. Nullable: result.';
