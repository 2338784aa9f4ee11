-- Whether a member may read a request: those who asked for it, who may be asked to decide it, who carry it out, and who oversee
-- all. Row-level security says the same in the form that suits lists; a test proves that they agree.
create or replace function capacity.may_read(p_request capacity.requests, p_member_id text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles text[];
  v_authority jsonb := p_request.review_plan #> '{commercial,authority}';
begin
  select m.roles into v_roles from directory.members m
   where m.workspace_id = p_request.workspace_id and m.id = p_member_id and m.active;
  return v_roles is not null and coalesce(
    p_member_id in (p_request.requester_user_id, p_request.commercial_owner_user_id, v_authority ->> 'member')
    or v_roles && array['admin', 'auditor']
    or 'operator' = any (v_roles) and p_request.state in ('PROVISIONING', 'COMPLETED', 'FAILED')
    or v_authority ->> 'role' = any (v_roles)
    or exists (select from directory.group_members g
                where g.workspace_id = p_request.workspace_id and g.group_id = p_request.infra_owner_group and g.member_id = p_member_id)
    or capacity.acts_as_owner(p_request, p_member_id, v_roles)
    or v_authority ->> 'kind' = 'member' and capacity.stands_in_for(p_request, v_authority ->> 'member', p_member_id), false);
end
$$;
comment on function capacity.may_read(capacity.requests, text) is 'Whether this member of the request''s workspace may read it.';
