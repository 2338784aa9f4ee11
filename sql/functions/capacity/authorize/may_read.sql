-- Whether a member may read a request: its requester, those who may be asked to decide it, those who carry it out, and those who oversee
-- everything. Pure: the member's standing was read before. Row-level security repeats this rule in a form that suits lists; a test proves
-- that they agree.
create or replace function capacity.may_read(p_request capacity.requests, p_standing directory.standing) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_authority jsonb := p_request.review_plan #> '{commercial,authority}';
begin
  return p_standing.workspace_id is not null and p_standing.workspace_id = p_request.workspace_id and coalesce(
    p_standing.member_id in (p_request.requester_user_id, p_request.commercial_owner_user_id, v_authority ->> 'member')
    or p_standing.roles && array['admin', 'auditor']
    or 'operator' = any (p_standing.roles) and p_request.state in ('PROVISIONING', 'COMPLETED', 'FAILED')
    or v_authority ->> 'role' = any (p_standing.roles)
    or p_request.infra_owner_group = any (p_standing.groups)
    or capacity.acts_as_owner(p_request, p_standing)
    or v_authority ->> 'kind' = 'member' and capacity.stands_in_for(p_request, v_authority ->> 'member', p_standing), false);
end
$$;
comment on function capacity.may_read(capacity.requests, directory.standing)
  is 'Whether this member of the request''s workspace may read it. Nullable: p_standing.';
