-- Why a person may not do this to a job, whatever its state, or null: operators and admins may do anything, the requester may only ask for
-- another attempt. A person who may not see the job is told that it does not exist.
create or replace function provisioning.person_refusal(p_job provisioning.jobs, p_member_id text, p_action text) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_operates boolean := exists (select from directory.members m
                                 where m.workspace_id = p_job.workspace_id and m.id = p_member_id and m.active
                                   and m.roles && array['operator', 'admin']);
  v_asked_for_it boolean := exists (select from capacity.requests r where r.id = p_job.request_id and r.requester_user_id = p_member_id);
begin
  if not provisioning.may_see(p_job, p_member_id) then
    return provisioning.no_such_job(p_job.request_id);
  elsif not v_operates and not (p_action = 'retry' and v_asked_for_it) then
    return row('not_allowed', case p_action
        when 'retry' then 'Only the requester, an operator or an admin may ask for another attempt.'
        when 'clean' then 'Only an operator or an admin may record that a cleanup is done.'
        else 'Only an operator or an admin may record how provisioning ended.' end,
      p_job.request_id, 'Nothing was changed.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function provisioning.person_refusal(provisioning.jobs, text, text)
  is 'Why a person may not do this to a job. Nullable: result.';
