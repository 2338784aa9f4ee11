-- Counts a callback with its attempt, and keeps the table of callbacks bounded: of a run that never stops talking the heartbeats beyond the
-- first few hundred are counted only.
create or replace function provisioning.note_heard(p_attempt provisioning.attempts, p_id uuid, p_sent jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update provisioning.attempts a set heard = a.heard + 1
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number;
  if p_attempt.heard >= 500 and p_sent ->> 'signal' in ('heartbeat', 'claim') then
    delete from provisioning.callbacks c where c.workspace_id = p_sent ->> 'workspace' and c.id = p_id;
  end if;
end
$$;
comment on function provisioning.note_heard(provisioning.attempts, uuid, jsonb) is 'Counts a callback of an attempt.';
