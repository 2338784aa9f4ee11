-- Lifts the pause and the open circuit of a destination, because they were about another receiver, or an operator knows that it works
-- again. Its limits stay. What relays noted before this commits is ignored, so none of their notes are touched.
create or replace function outbox.clear_destination(p_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_was_open boolean := outbox.circuit_of(p_name) <> 'closed';
begin
  if p_name is null or length(p_name) not between 1 and 200 then
    perform headroom.fail('invalid_input', 'A destination has 1 to 200 characters.');
  end if;
  insert into outbox.limits as l (name, clears) values (p_name, 1)
  on conflict (name) do update set clears = l.clears + 1, changed_at = now();
  if v_was_open then
    perform headroom.run_hooks('outbox.circuits', jsonb_build_array(jsonb_build_object('destination', p_name, 'circuit', 'closed')));
  end if;
end
$$;
comment on function outbox.clear_destination(text) is 'Lifts the pause and the open circuit of a destination.';
