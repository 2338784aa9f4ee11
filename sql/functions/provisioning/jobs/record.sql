-- Moves a job; nothing else writes its state and its log. The caller has locked the request and the customer's turn.
create or replace function provisioning.record(p_job provisioning.jobs, p_event text, p_actor capacity.actor, p_reason text default null)
returns provisioning.jobs
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_before text := case p_job.version when 0 then 'new' else p_job.state end;
  v_after text := provisioning.next_state(v_before, p_event);
  v_now timestamptz := clock_timestamp();
  v_job provisioning.jobs;
begin
  insert into provisioning.events (job_id, seq, event, state_before, state_after, attempt, actor_type, actor_id, via, reason_hash,
                                   created_at)
  values (p_job.id, p_job.version + 1, p_event, v_before, v_after, nullif(p_job.attempts, 0), p_actor.type, p_actor.id, p_actor.via,
          case when p_reason is not null then capacity.put_free_text(p_job.request_id, to_jsonb(p_reason)) end, v_now);
  update provisioning.jobs j
     set state = v_after, adopted = j.adopted and p_event <> 'RETRIED', version = j.version + 1, updated_at = v_now, next_look_at = v_now,
         waiting_since = case when v_after = 'waiting' and v_before <> 'waiting' then v_now else j.waiting_since end,
         failed_at = case when v_after = 'failed' and v_before <> 'failed' then v_now else j.failed_at end,
         late_told_at = case when v_after = v_before then j.late_told_at end, reminders = 0, reminded_at = null,
         completed_at = coalesce(j.completed_at, case when v_after in ('running', 'given_up', 'cancelled') then v_now end)
   where j.id = p_job.id and j.version = p_job.version
  returning j.* into strict v_job;
  return v_job;
end
$$;
comment on function provisioning.record(provisioning.jobs, text, capacity.actor, text)
  is 'Records an event of a job and moves it. Nullable: p_reason.';
