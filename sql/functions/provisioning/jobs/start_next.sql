-- Begins the next attempt of the customer whose job this is, if no job of theirs has the turn: of the job that has waited longest and may
-- begin, which then has it. Where a cleanup has failed for good nothing begins on top of what may be left, until somebody has cleaned up.
-- A job whose customer nobody knows waits for no other. Called whenever something ended that a job may have waited for, by somebody who
-- holds the lock of the customer's turn; the request of the job that begins need not be locked, so nothing is said about it here.
--
-- What cannot begin must not keep what has just ended from ending: it is written down, and the sweep tries again.
create or replace function provisioning.start_next(p_ended provisioning.jobs) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
begin
  if p_ended.customer_key is null then
    select j.* into v_job from provisioning.jobs j
     where j.id = p_ended.id and j.state = 'waiting' and j.cleanup in ('none', 'done') and not j.has_turn and not j.adopted;
  elsif not exists (select from provisioning.jobs j
                     where j.workspace_id = p_ended.workspace_id and j.customer_key = p_ended.customer_key
                       and j.has_turn) then
    select j.* into v_job from provisioning.jobs j
     where j.workspace_id = p_ended.workspace_id and j.customer_key = p_ended.customer_key and j.state = 'waiting'
       and j.cleanup in ('none', 'done') and not j.adopted
     order by j.waiting_since, j.id limit 1;
  end if;
  if v_job.id is null or provisioning.callback_address(v_job.workspace_id) is null then
    return;
  end if;
  begin
    update provisioning.jobs j set attempts = j.attempts + 1, has_turn = true where j.id = v_job.id returning j.* into v_job;
    v_job := provisioning.record(v_job, 'DISPATCHED', provisioning.system_actor(v_job.id, 'system'));
    perform provisioning.begin_attempt(v_job, 'provision', v_job.attempts);
  exception when others then
    perform capacity.timer_failed(v_job.request_id, 'provisioning', sqlstate, sqlerrm);
  end;
end
$$;
comment on function provisioning.start_next(provisioning.jobs)
  is 'Begins the next attempt that may begin, after a job of a customer moved.';
