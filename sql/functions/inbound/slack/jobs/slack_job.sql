-- The job of a request in the member's workspace. A request of another workspace gets no more checks than one that does not exist.
create or replace function inbound.slack_job(p_member directory.members, p_request_id text) returns provisioning.jobs
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
begin
  select j.* into v_job from provisioning.jobs j where j.request_id = p_request_id and j.workspace_id = p_member.workspace_id;
  if v_job.id is null then
    perform headroom.refuse(provisioning.no_such_job(p_request_id));
  end if;
  return v_job;
end
$$;
comment on function inbound.slack_job(directory.members, text) is 'The job of a request, for a member in Slack.';
