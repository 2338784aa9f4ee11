-- Lifts what is held against a destination: its pause and its open circuit spoke of a receiver that is not the one any more, or that an
-- operator says is well again. Its limits stay. What relays found out before now no longer counts, so nothing of theirs is touched.
create or replace function outbox.clear_destination(p_name text) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.limits (name, cleared_at) values (p_name, clock_timestamp())
  on conflict (name) do update set cleared_at = excluded.cleared_at, changed_at = now();
$$;
comment on function outbox.clear_destination(text) is 'Lifts the pause and the open circuit of a destination.';
