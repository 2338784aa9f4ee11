-- GitHub reports that a run ended. That is a hint, not proof: its webhooks sign no time, and one secret may serve several repositories. So
-- this has GitHub asked about the run, and only that answer counts. Returns whether there was anything to ask about.
create or replace function inbound.github_handle(p_sent jsonb) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_title text := coalesce(p_sent #>> '{workflow_run,display_title}', p_sent #>> '{workflow_run,name}');
  v_mark text[] := regexp_match(v_title, '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(cleanup-)?([0-9]{1,4})(?![0-9])');
  v_job provisioning.jobs;
  v_attempt provisioning.attempts;
begin
  if p_sent ->> 'action' is distinct from 'completed' or v_mark is null then
    return 'ignored';
  end if;
  select j.* into v_job from provisioning.jobs j where j.id = v_mark[1]::uuid;
  if v_job.id is null then
    return 'ignored';
  end if;
  v_job := provisioning.lock_job(v_job.request_id);
  v_attempt := provisioning.open_attempt(v_job.id, case when v_mark[2] is null then 'provision' else 'cleanup' end);
  if v_attempt.number is distinct from v_mark[3]::smallint
     or lower((v_attempt.owner || '/' || v_attempt.repo) collate "C")
        is distinct from lower((p_sent #>> '{repository,full_name}') collate "C")
     or v_attempt.watched_at > clock_timestamp() - interval '5 seconds' then
    return 'ignored';
  end if;
  perform provisioning.watch_run(v_attempt);
  return 'done';
end
$$;
comment on function inbound.github_handle(jsonb) is 'Has GitHub asked about a run of ours that it reports as ended.';
