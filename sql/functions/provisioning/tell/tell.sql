-- Posts a notice about a job where its request is followed. The caller has locked the request. p_asks: it waits for people, who are named.
create or replace function provisioning.tell(p_job provisioning.jobs, p_said text, p_quoted text default null, p_asks boolean default false)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
begin
  select r.* into strict v_request from capacity.requests r where r.id = p_job.request_id;
  perform capacity.post_notice(
    v_request, 'job', null, null, provisioning.system_actor(p_job.id, 'system'), p_quoted,
    p_called => case when p_asks then provisioning.people_asked(v_request) else '{}' end, p_said => p_said);
end
$$;
comment on function provisioning.tell(provisioning.jobs, text, text, boolean) is 'Posts a notice about a job. Nullable: p_quoted.';
