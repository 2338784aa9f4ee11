-- How often a row was tried, the open try included, counted in the archive: DISPATCHING lines less RELEASED ones since the last redrive.
-- For inspecting rows in flight: a row without order is in no pending table then, and its claim keeps no count when all of its rows are
-- new. Planned for each call, as in outbox.last_line().
create or replace function outbox.tries_so_far(p_outbox_id uuid, p_class_id smallint) returns integer
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
begin
  return (
    select (count(*) filter (where a.state = 'DISPATCHING') - count(*) filter (where a.state = 'RELEASED'))::integer
      from outbox.attempts a
     where a.outbox_id = p_outbox_id and a.class_id = p_class_id
       and a.attempt_no > coalesce((select max(r.attempt_no) from outbox.attempts r
                                     where r.outbox_id = p_outbox_id and r.class_id = p_class_id and r.state = 'REDRIVEN'), 0));
end
$$;
comment on function outbox.tries_so_far(uuid, smallint) is 'Tries of a row since its last redrive, counted in the archive.';
