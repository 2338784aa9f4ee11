-- Counts a callback with its attempt, and keeps the table of callbacks bounded: of a run that never stops talking, what it says after the
-- first few hundred is counted only, except for the one result that counts.
create or replace function provisioning.note_heard(p_attempt provisioning.attempts, p_workspace_id text, p_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update provisioning.attempts a set heard = a.heard + 1
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number;
  if p_attempt.heard >= 500 then
    delete from provisioning.callbacks c
     where c.workspace_id = p_workspace_id and c.id = p_id and not (c.outcome = 'accepted' and c.signal in ('succeeded', 'failed'));
  end if;
end
$$;
comment on function provisioning.note_heard(provisioning.attempts, text, uuid) is 'Counts a callback of an attempt.';
