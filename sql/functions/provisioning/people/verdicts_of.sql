-- The verdicts on what a member can do to the job of a request; none for a request without a job.
create or replace function provisioning.verdicts_of(p_request capacity.requests, p_actor capacity.actor, p_actions text[] default null)
returns setof capacity.action_verdict
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := provisioning.find_job(p_request.id);
  v_others jsonb := capacity.holders(p_request.workspace_id, '{operator,admin}');
  v_action record;
  v_verdict capacity.action_verdict;
  v_refusal headroom.refusal;
begin
  if v_job.id is null then
    return;
  end if;
  for v_action in
    select a.* from (values ('retry', null), ('complete', 'PROVISIONING_COMPLETE'), ('fail', 'PROVISIONING_FAILED'), ('clean', null))
                    a(action, event_type)
     where p_actions is null or a.action = any (p_actions)
  loop
    v_refusal := provisioning.action_refusal(v_job, p_actor.id, v_action.action);
    if v_refusal.code is null and v_action.event_type is not null then
      v_verdict := capacity.event_verdict(p_request, p_actor, v_action.event_type::public.capacity_request_event_type, v_others);
      if (v_verdict.refusal).code = 'invalid_transition' then
        v_verdict.refusal := capacity.too_late(p_request);
      end if;
    else
      v_verdict := null;
      v_verdict.refusal := v_refusal;
      v_verdict.allowed := v_refusal.code is null;
      v_verdict.repeated := v_verdict.allowed and provisioning.is_retried(v_job) and v_action.action = 'retry';
      v_verdict.others := case when v_verdict.allowed or v_refusal.code = 'not_allowed' then v_others end;
    end if;
    v_verdict.action := v_action.action;
    v_verdict.target_id := v_job.id;
    return next v_verdict;
  end loop;
end
$$;
comment on function provisioning.verdicts_of(capacity.requests, capacity.actor, text[])
  is 'What a member can do to the job of a request now, and why not. Nullable: p_actions.';
