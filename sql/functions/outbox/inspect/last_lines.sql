-- The last line of each of some rows in the archive, in the order of the ids. Planned for each call, as in outbox.last_line(), and once for
-- all of them: planning takes ten times as long as reading.
create or replace function outbox.last_lines(p_outbox_ids uuid[]) returns outbox.attempts[]
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  v_classes smallint[];
begin
  v_classes := array(select distinct get_byte(uuid_send(i.id), 7)::smallint from unnest(p_outbox_ids) i(id));
  return array(
    select distinct on (a.outbox_id) a from outbox.attempts a
     where a.outbox_id = any (p_outbox_ids) and a.class_id = any (v_classes) order by a.outbox_id, a.attempt_no desc);
end
$$;
comment on function outbox.last_lines(uuid[]) is 'The last line of each of some rows.';
