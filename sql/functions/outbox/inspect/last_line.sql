-- The last line of a row in the archive. Planned for each call, so that the planner opens only the partition that has it: a cached plan
-- opens and locks all partitions at each call, and their number grows each month.
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
