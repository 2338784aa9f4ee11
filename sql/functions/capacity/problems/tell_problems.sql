-- Hook of notify.following: tells the operators of each workspace what could not be delivered, a batch of workspaces per run. A workspace
-- that another process is working on is skipped. One whose problems cannot be told keeps them, and holds up no other message.
create or replace function capacity.tell_problems(p_argument jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_due record;
begin
  for v_due in
    select p.workspace_id, p.kind from capacity.problems p
      left join capacity.problems_told t on t.workspace_id = p.workspace_id and p.kind = 'dead_letters' and t.cause = p.kind
     where t.told_at is null or t.told_at <= clock_timestamp() - capacity.problem_pause()
     group by 1, 2 order by min(p.id) limit (p_argument ->> 'most')::integer
  loop
    continue when not headroom.try_turn('capacity.tell_problems:' || v_due.workspace_id);
    begin
      if v_due.kind = 'dead_letters' then
        perform capacity.tell_dead_letters(v_due.workspace_id);
      else
        perform capacity.tell_circuits(v_due.workspace_id);
      end if;
    exception when others then
      raise warning 'the operators of workspace % were not told of problems: %', v_due.workspace_id, sqlerrm;
    end;
  end loop;
  return null;
end
$$;
comment on function capacity.tell_problems(jsonb) is 'Tells operators what could not be delivered. Nullable: result.';
