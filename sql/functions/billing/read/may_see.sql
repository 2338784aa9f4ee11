-- Whether a member may see the money of a request: those who may read the request, those who work on payments, and those who oversee
-- everything.
create or replace function billing.may_see(p_request capacity.requests, p_member_id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from directory.standings s
                  where s.workspace_id = p_request.workspace_id and s.member_id = p_member_id
                    and (s.roles && array['operator', 'admin', 'auditor']
                         or capacity.may_read(p_request, row(s.*)::directory.standing)));
$$;
comment on function billing.may_see(capacity.requests, text) is 'Whether this member of the request''s workspace may see its money.';
