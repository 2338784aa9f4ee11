-- Checks whether a person may do this to a job: operators and admins may do anything, the requester may only ask for another attempt. A
-- person who may not see the job is told that it does not exist.
create or replace function provisioning.check_person(p_job provisioning.jobs, p_actor capacity.actor, p_action text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_operates boolean := exists (select from directory.members m
                                 where m.workspace_id = p_job.workspace_id and m.id = p_actor.id and m.active
                                   and m.roles && array['operator', 'admin']);
  v_asked_for_it boolean := exists (select from capacity.requests r where r.id = p_job.request_id and r.requester_user_id = p_actor.id);
begin
  if not provisioning.may_see(p_job, p_actor.id) then
    perform provisioning.no_such_job(p_job.request_id);
  elsif not v_operates and not (p_action = 'retry' and v_asked_for_it) then
    perform headroom.fail('not_allowed', case p_action
        when 'retry' then 'Only the requester, an operator or an admin may ask for another attempt.'
        when 'clean' then 'Only an operator or an admin may record that a cleanup is done.'
        else 'Only an operator or an admin may record how provisioning ended.' end, p_job.request_id, 'Nothing was changed.');
  end if;
end
$$;
comment on function provisioning.check_person(provisioning.jobs, capacity.actor, text) is 'Refuses a person who may not do this to a job.';
