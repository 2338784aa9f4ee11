-- A job that waits on a person: they are reminded as reviewers are, no more often than the workspace wants it and no more times; that
-- nobody retried in time is said once, and after that the job fails for good.
create or replace function provisioning.remind(p_job provisioning.jobs) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings provisioning.settings;
  v_workspace directory.workspaces;
  v_due timestamptz;
begin
  select s.* into v_settings from provisioning.settings s where s.workspace_id = p_job.workspace_id;
  select w.* into strict v_workspace from directory.workspaces w where w.id = p_job.workspace_id;
  if p_job.state = 'failed' and p_job.failed_at <= now() - coalesce(v_settings.give_up_hours, 72) * interval '1 hour' then
    perform provisioning.give_up(p_job, 'cron', format('Nobody tried again within %s hours.', coalesce(v_settings.give_up_hours, 72)));
    return;
  elsif p_job.state = 'failed' and p_job.late_told_at is null
        and p_job.failed_at <= now() - coalesce(v_settings.retry_sla_hours, 24) * interval '1 hour' then
    update provisioning.jobs j set late_told_at = clock_timestamp(), reminded_at = clock_timestamp() where j.id = p_job.id;
    perform provisioning.tell(p_job, format(
      'Nobody has tried again for %s hours. After %s hours the request fails for good.', v_settings.retry_sla_hours,
      v_settings.give_up_hours), p_asks => true);
    return;
  end if;
  v_due := coalesce(p_job.reminded_at, p_job.updated_at) + v_workspace.remind_every_hours * interval '1 hour';
  if v_due <= now() and p_job.reminders < v_workspace.most_reminders then
    update provisioning.jobs j set reminders = j.reminders + 1, reminded_at = clock_timestamp() where j.id = p_job.id;
    perform provisioning.tell(p_job, case
        when p_job.state = 'failed' then 'The job still waits for somebody to try again, or to give it up.'
        when p_job.cleanup = 'failed' then 'The cleanup has failed, and something may still be running. An operator sees to it by hand.'
        else provisioning.held_words(p_job.id) end, p_asks => true);
  end if;
end
$$;
comment on function provisioning.remind(provisioning.jobs) is 'Reminds people of a job that waits on them, or gives it up.';
