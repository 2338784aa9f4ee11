-- The circuit of a destination: closed, open, or half-open (one trial call).
create or replace function outbox.circuit_of(p_destination text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when g.open_until > now() then 'open' when g.failures >= g.failure_threshold then 'half-open' else 'closed' end
    from outbox.gates_of(array[p_destination]) g
$$;
comment on function outbox.circuit_of(text) is 'The circuit of a destination: closed, open or half-open.';
