-- Passes the customer's turn on once nothing of the job runs any more: no attempt and no cleanup is open, and the runs of those that ended
-- are known to have ended. Then the customer's next attempt begins, of whichever job. Called whenever a part of a job ended; the caller
-- holds the lock of the customer's turn.
create or replace function provisioning.pass_turn(p_job provisioning.jobs) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update provisioning.jobs j set has_turn = false, next_look_at = clock_timestamp()
   where j.id = p_job.id and j.has_turn
     and not exists (select from provisioning.attempts a where a.job_id = j.id and a.over_at is null);
  perform provisioning.start_next(p_job);
end
$$;
comment on function provisioning.pass_turn(provisioning.jobs) is 'Passes a customer''s turn on when nothing of a job runs any more.';
