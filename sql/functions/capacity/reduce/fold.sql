-- Folds a request's events, given in the order of their numbers, into the request. The reducer writes what capacity.project() returns,
-- so the projection must equal this.
create or replace function capacity.fold(p_events capacity.events[]) returns capacity.requests
language plpgsql immutable strict set search_path = pg_catalog, pg_temp
as $$
declare
  v_event capacity.events;
  v_request capacity.requests;
begin
  foreach v_event in array p_events loop
    v_request := capacity.project(v_request, v_event);
  end loop;
  return v_request;
end
$$;
comment on function capacity.fold(capacity.events[]) is 'The request folded from its events, given in order of their numbers.';
