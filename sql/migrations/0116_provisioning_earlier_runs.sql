-- Runs that were stopped shortly before jobs had turns, and beside which another run of the customer had begun: nothing waits for them, and
-- of jobs that have no turn nobody would ever have said that they are over.
update provisioning.attempts a set over_at = a.ended_at, over_because = 'limit'
  from provisioning.jobs j
 where j.id = a.job_id and a.ended_at is not null and a.over_at is null and (not j.has_turn or j.state in ('queued', 'provisioning'));
