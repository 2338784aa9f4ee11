-- Hook of outbox.circuits: notes that a receiver does not answer, for each workspace with messages for it, or that it answers again, for
-- workspaces that were or will be told that it did not. It only inserts, because a relay waits for it; one by one, because the second
-- may be about the first.
create or replace function capacity.note_circuits(p_circuits jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_circuit record;
begin
  for v_circuit in select c ->> 'destination' as destination, c ->> 'circuit' as circuit, left(c ->> 'code', 100) as code
                     from jsonb_array_elements(p_circuits) with ordinality x(c, n) order by n
  loop
    insert into capacity.problems (workspace_id, kind, destination, circuit, code)
    select w.id, 'circuit', v_circuit.destination, v_circuit.circuit, v_circuit.code
      from directory.workspaces w
     where w.id in (select outbox.waiting_tenants(v_circuit.destination) where v_circuit.circuit = 'open'
                    union all
                    select t.workspace_id from capacity.circuits_told t
                     where v_circuit.circuit = 'closed' and t.destination = v_circuit.destination
                    union all
                    select p.workspace_id from capacity.problems p
                     where v_circuit.circuit = 'closed' and p.destination = v_circuit.destination);
  end loop;
  return null;
end
$$;
comment on function capacity.note_circuits(jsonb) is 'Notes receivers that do not answer, or answer again. Nullable: result.';
