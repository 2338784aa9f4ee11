-- The last line of a row in the archive. Planned anew each time, so that the planner opens the one partition that has it: a plan that is
-- kept opens and locks all of them at each call, and there are more of them each month.
create or replace function outbox.last_line(p_outbox_id uuid, p_class_id smallint) returns outbox.attempts
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  v_line outbox.attempts;
begin
  select a.* into v_line from outbox.attempts a
   where a.outbox_id = p_outbox_id and a.class_id = p_class_id order by a.attempt_no desc limit 1;
  return v_line;
end
$$;
comment on function outbox.last_line(uuid, smallint) is 'The last line of a row. Nullable: result.';
