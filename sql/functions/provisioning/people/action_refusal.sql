-- Why a person may not do this to a job now, or null: because of who they are, or because of how the job is. How provisioning ended is
-- an event of the request, which capacity.judge() judges.
create or replace function provisioning.action_refusal(p_job provisioning.jobs, p_member_id text, p_action text) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal headroom.refusal := provisioning.person_refusal(p_job, p_member_id, p_action);
begin
  if v_refusal.code is not null then
    return v_refusal;
  elsif p_action = 'clean' and p_job.cleanup <> 'failed' then
    return row('conflict', case p_job.cleanup when 'under_way' then 'The cleanup is still under way.'
                                              else 'There is nothing left to clean up.' end,
               p_job.request_id, 'Nothing was changed.')::headroom.refusal;
  elsif p_action = 'retry' and not provisioning.is_retried(p_job) and p_job.cleanup = 'failed' then
    return row('conflict', 'The cleanup after the last attempt failed, and something may be left running.', p_job.request_id,
               format('An operator cleans up and records that with: headroom jobs cleaned %s. Nothing was changed.',
                      p_job.request_id))::headroom.refusal;
  elsif p_action = 'retry' and not provisioning.is_retried(p_job) then
    return provisioning.event_refusal(p_job.state, 'RETRIED');
  end if;
  return null;
end
$$;
comment on function provisioning.action_refusal(provisioning.jobs, text, text)
  is 'Why a person may not do this to a job now. Nullable: result.';
