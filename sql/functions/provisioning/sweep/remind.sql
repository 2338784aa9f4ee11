-- A job that waits for a person: they are reminded as reviewers are, no more often than the workspace wants; after its maximum of reminders
-- less often, but for as long as the job waits. A new need is announced now. That nobody helped in time is said once; after that the job
-- fails permanently if gives_up_at() says so.
create or replace function provisioning.remind(p_job provisioning.jobs) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_asks text := provisioning.asks_for(p_job);
  v_hours integer := provisioning.give_up_hours(p_job.workspace_id);
  v_sla integer := coalesce((select s.retry_sla_hours from provisioning.settings s where s.workspace_id = p_job.workspace_id), 24);
  v_workspace directory.workspaces;
  v_job provisioning.jobs := p_job;
  v_open boolean := p_job.state in ('waiting', 'queued', 'provisioning', 'failed');
  v_ends_at timestamptz;
  v_since timestamptz;
  v_every integer;
begin
  if v_asks is distinct from p_job.asked_for then
    update provisioning.jobs j set asked_for = v_asks, asked_since = case when v_asks is not null then clock_timestamp() end
     where j.id = p_job.id returning j.* into v_job;
    -- Other needs are announced where they arise.
    if v_asks in ('dispatch', 'not_connected', 'no_address') then
      update provisioning.jobs j set reminders = 0, reminded_at = clock_timestamp(), late_told_at = null where j.id = p_job.id
      returning j.* into v_job;
      perform provisioning.tell(v_job, provisioning.asked_words(v_job),
        case v_asks when 'dispatch' then provisioning.unsent_words(provisioning.unsent_attempt(v_job)) end, true);
    end if;
  end if;
  if v_asks is null then
    return;
  end if;
  select w.* into strict v_workspace from directory.workspaces w where w.id = p_job.workspace_id;
  v_ends_at := provisioning.gives_up_at(v_job);
  v_since := case v_job.state when 'failed' then v_job.failed_at else v_job.asked_since end;
  v_every := case when v_job.reminders < v_workspace.most_reminders then v_workspace.remind_every_hours
                  else greatest(v_workspace.remind_every_hours, v_hours) end;
  if v_ends_at <= now() and v_job.state in ('waiting', 'failed') then
    perform provisioning.give_up(v_job, 'cron', format(case coalesce(p_job.asked_for, v_asks)
      when 'cleanup_failed' then 'The cleanup failed, and nobody had cleaned up within %s hours.'
      when 'no_address' then 'Runs had no address to report to for %s hours.'
      when 'not_connected' then 'No workflow was connected within %s hours.'
      when 'person' then 'Nobody let a workflow provide it within %s hours.'
      else 'Nobody tried again within %s hours.' end, v_hours));
  elsif v_open and v_job.late_told_at is null and v_since <= now() - v_sla * interval '1 hour' then
    update provisioning.jobs j set late_told_at = clock_timestamp(), reminded_at = clock_timestamp() where j.id = v_job.id;
    perform provisioning.tell(v_job, case v_asks
        when 'retry' then format('Nobody has tried again for %s hours.', v_sla)
        else format('For %s hours nobody has helped. %s', v_sla, provisioning.asked_words(v_job)) end
      || case when v_ends_at is not null then format(' After %s hours the request fails permanently%s.', v_hours,
                                                     provisioning.money_words(v_job.request_id)) else '' end, p_asks => true);
  elsif coalesce(v_job.reminded_at, v_job.updated_at) + v_every * interval '1 hour' <= now() then
    update provisioning.jobs j set reminders = least(j.reminders + 1, 1000), reminded_at = clock_timestamp() where j.id = v_job.id;
    perform provisioning.tell(v_job, provisioning.asked_words(v_job), p_asks => true);
  end if;
end
$$;
comment on function provisioning.remind(provisioning.jobs) is 'Tells and reminds people about a job that waits for them, or gives it up.';
