-- Counts a callback with its attempt, and keeps the table of callbacks bounded: of a run that never stops talking, what it said longer ago
-- than anybody could replay it is forgotten, except for the claim and the result.
create or replace function provisioning.count_callback(p_attempt provisioning.attempts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update provisioning.attempts a set heard = a.heard + 1
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number;
  if p_attempt.heard >= 500 then
    delete from provisioning.callbacks c
     where c.job_id = p_attempt.job_id and c.task = p_attempt.task and c.attempt = p_attempt.number
       and c.received_at < now() - interval '11 minutes' and c.received_at > p_attempt.claimed_at
       and not (c.outcome = 'accepted' and c.signal in ('succeeded', 'failed'));
  end if;
end
$$;
comment on function provisioning.count_callback(provisioning.attempts) is 'Counts a callback of an attempt.';
