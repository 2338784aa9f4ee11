-- Reminds one person of everything that waits for them. If that fails as a whole, each review is tried separately, so that a failing one
-- does not hold back the reminders of the others.
create or replace function capacity.timer_remind_person(
  p_workspace directory.workspaces, p_member_id text, p_items jsonb, p_others integer, out reminded integer, out failed jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_item jsonb;
begin
  failed := '[]';
  begin
    perform capacity.timer_remind(p_workspace, p_member_id, p_items, p_others);
    reminded := jsonb_array_length(p_items);
    return;
  exception when others then
    if jsonb_array_length(p_items) = 1 then
      reminded := 0;
      failed := failed || capacity.timer_failed(p_items #>> '{0,id}', 'reminder', sqlstate, sqlerrm);
      return;
    end if;
  end;
  reminded := 0;
  for v_item in select i from jsonb_array_elements(p_items) i loop
    begin
      perform capacity.timer_remind(p_workspace, p_member_id, jsonb_build_array(v_item), 0);
      reminded := reminded + 1;
    exception when others then
      failed := failed || capacity.timer_failed(v_item ->> 'id', 'reminder', sqlstate, sqlerrm);
    end;
  end loop;
end
$$;
comment on function capacity.timer_remind_person(directory.workspaces, text, jsonb, integer)
  is 'Reminds a person of several reviews, isolating those that fail.';
