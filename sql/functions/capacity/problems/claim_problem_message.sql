-- Whether operators of a workspace may be notified of a kind of problem now; if so, records that they were. The caller holds the workspace.
create or replace function capacity.claim_problem_message(p_workspace_id text, p_cause text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into capacity.problems_told as t (workspace_id, cause, told_at) values (p_workspace_id, p_cause, clock_timestamp())
  on conflict (workspace_id, cause) do update set told_at = excluded.told_at
   where t.told_at <= excluded.told_at - capacity.problem_pause();
  return found;
end
$$;
comment on function capacity.claim_problem_message(text, text) is 'Whether operators may be notified of a kind of problem now.';
