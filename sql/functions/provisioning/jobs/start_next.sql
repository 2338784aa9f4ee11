-- Begins the customer's next attempt if none of their jobs has the turn: the job that has waited longest and may begin gets it. After a
-- cleanup that failed permanently, nothing begins on top of what may be left until somebody has cleaned up. A job with an unknown customer
-- waits for no other. Called whenever something ended that a job may have waited for; the caller holds the lock of the customer's turn. The
-- request of the job that begins need not be locked, so nothing is posted here.
--
-- A job that cannot begin must not keep the caller's change from committing: the failure is recorded, and the sweep tries again.
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
