-- What a request waits for and on whom, by name. Above the owner's authority the owner is asked as well, for an endorsement,
-- until there is one.
create or replace function capacity.pending_approvals(p_request capacity.requests) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_commercial jsonb := p_request.review_plan -> 'commercial';
  v_open jsonb := '[]';
begin
  if p_request.state <> 'UNDER_REVIEW' then
    return v_open;
  end if;
  if p_request.commercial_approved_at is null then
    v_open := v_open || jsonb_build_array(jsonb_build_object(
      'step', 'commercial', 'since', p_request.state_since, 'authority', v_commercial -> 'authority', 'why', v_commercial -> 'why',
      'reviewers', capacity.reviewers(p_request, 'commercial'),
      'endorsers', case when v_commercial #>> '{authority,kind}' <> 'owner' and p_request.commercial_endorsed_at is null
                        then capacity.commercial_reviewers(p_request.workspace_id, p_request.requester_user_id, p_request.commercial_owner_user_id, null)
                        else '[]' end));
  end if;
  if p_request.technical_approved_at is null then
    v_open := v_open || jsonb_build_array(jsonb_build_object(
      'step', 'technical', 'since', p_request.state_since, 'group', p_request.infra_owner_group, 'why', p_request.review_plan #> '{technical,why}',
      'reviewers', capacity.reviewers(p_request, 'technical')));
  end if;
  return v_open;
end
$$;
comment on function capacity.pending_approvals(capacity.requests) is 'Open review steps, and who may decide each.';
