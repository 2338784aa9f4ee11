-- I1, for a range of request ids: the stored row equals the fold of its events, by the same step that the reducer takes; and the stored
-- customer data matches the hash in the log, unless it was erased.
--
-- Tampered events may not fold at all. Then the range is checked request by request, so that the broken one
-- is named and the others are still verified.
create or replace function capacity.verify_projection(p_after text, p_to text, p_workspace_id text)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_one record;
begin
  begin
    return query select * from capacity.verify_fold(p_after, p_to, p_workspace_id);
    return;
  exception when data_exception then
    null;
  end;

  for v_one in
    select r.id, coalesce(lag(r.id) over (order by r.id), p_after) as before
      from capacity.requests r
     where r.id > p_after and r.id <= p_to and (p_workspace_id is null or r.workspace_id = p_workspace_id)
     order by r.id
  loop
    begin
      return query select * from capacity.verify_fold(v_one.before, v_one.id, p_workspace_id);
    exception when data_exception then
      return query select 'I1', 'events_do_not_add_up', v_one.id, left(sqlerrm, 200);
    end;
  end loop;
end
$$;
comment on function capacity.verify_projection(text, text, text)
  is 'Requests of a range whose stored row is not the fold of their events.';
