-- Everything about one job, by its id or its request's, for those who may see it.
create or replace function public.get_provisioning_job(p_job_id text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_job provisioning.jobs := provisioning.find_job(p_job_id);
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs a member who is signed in, or a service key.', null, 'Sign in and try again.');
  elsif v_job.id is null
     or v_caller.kind = 'member' and (v_caller.workspace_id <> v_job.workspace_id
                                      or not provisioning.may_see(v_job, v_caller.member_id)) then
    perform headroom.refuse(provisioning.no_such_job(p_job_id));
  end if;
  return provisioning.job_json(v_job);
end
$$;
comment on function public.get_provisioning_job(text) is 'A provisioning job with its runs, their steps and its history.';
