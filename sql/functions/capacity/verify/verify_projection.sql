-- I1, for the requests of a range of ids: the stored row is what its events add up to, by the very step that the reducer takes; and what
-- is kept of the customer is what the log has the hash of, unless it was erased.
--
-- Events that somebody changed may no longer add up at all. Then the range is taken request by request, so that the one that is broken
-- is named and the others are still judged.
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
