-- The kind under which Linear files a workflow state, whatever the team calls it.
create or replace function capacity.linear_state_kind(p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_state
    when 'SUBMITTED' then 'unstarted'
    when 'COMPLETED' then 'completed'
    when 'REJECTED' then 'canceled'
    when 'CANCELLED' then 'canceled'
    when 'EXPIRED' then 'canceled'
    when 'FAILED' then 'canceled'
    else 'started'
  end;
end
$$;
comment on function capacity.linear_state_kind(text) is 'The kind of Linear workflow state that a state of ours is.';
