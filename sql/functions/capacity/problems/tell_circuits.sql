-- Tells the operators of a workspace which receivers do not answer, and which of those already reported answer again. A circuit that opened
-- and closed before anybody was told is not reported. The caller holds the workspace.
create or replace function capacity.tell_circuits(p_workspace_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now record;
  v_cause text;
begin
  -- Of each receiver only the latest state counts, and only if it is news.
  delete from capacity.problems p
   where p.workspace_id = p_workspace_id and p.kind = 'circuit'
     and (exists (select from capacity.problems l
                   where l.workspace_id = p_workspace_id and l.destination = p.destination and l.id > p.id)
          or (p.circuit = 'open') = exists (select from capacity.circuits_told t
                                             where t.workspace_id = p_workspace_id and t.destination = p.destination));
  for v_now in
    select p.circuit, array_agg(p.id) as ids, jsonb_build_object(
             'id', min(p.id), 'count', count(*),
             'destinations', jsonb_agg(jsonb_build_object('name', capacity.destination_words(p_workspace_id, p.destination),
                                                          'code', p.code) order by p.id)) as facts
      from capacity.problems p where p.workspace_id = p_workspace_id and p.kind = 'circuit'
     group by p.circuit order by p.circuit desc
  loop
    v_cause := 'circuit_' || v_now.circuit;
    continue when not capacity.claim_problem_message(p_workspace_id, v_cause);
    if v_now.circuit = 'open' then
      insert into capacity.circuits_told (destination, workspace_id)
      select p.destination, p.workspace_id from capacity.problems p where p.id = any (v_now.ids);
    else
      delete from capacity.circuits_told t using capacity.problems p
       where p.id = any (v_now.ids) and t.workspace_id = p.workspace_id and t.destination = p.destination;
    end if;
    delete from capacity.problems p where p.id = any (v_now.ids);
    perform capacity.tell_operators(p_workspace_id, v_cause, v_now.facts);
  end loop;
end
$$;
comment on function capacity.tell_circuits(text) is 'Tells operators which receivers do not answer, or answer again.';
