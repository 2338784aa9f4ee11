-- Lifts what is held against a destination: its pause and its open circuit spoke of a receiver that is not the one any more, or that an
-- operator says is well again. Its limits stay. A destination that nobody has named yet has nothing to lift.
create or replace function outbox.clear_destination(p_name text) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update outbox.destinations d
     set next_slot_at = '-infinity', tail_at = '-infinity', failures = 0, times_opened = 0, open_until = null, probe_until = null, changed_at = now()
   where d.name = p_name;
$$;
comment on function outbox.clear_destination(text) is 'Lifts the pause and the open circuit of a destination.';
