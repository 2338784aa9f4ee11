-- Who is waited for at a step of a request, by the directory as it is now. For the customer's answer that is nobody inside.
create or replace function capacity.reviewers(p_request capacity.requests, p_step text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_step = 'commercial' then
    return capacity.commercial_reviewers(p_request.workspace_id, p_request.requester_user_id, p_request.commercial_owner_user_id,
                                         p_request.review_plan #> '{commercial,authority}');
  elsif p_step = 'technical' then
    return capacity.technical_reviewers(p_request.workspace_id, p_request.requester_user_id, p_request.infra_owner_group);
  end if;
  return '[]';
end
$$;
comment on function capacity.reviewers(capacity.requests, text) is 'Members whose approval of a step would count now, as {id, name}.';
