-- The approval rules of a workspace, in the order in which they are evaluated.
create or replace function capacity.list_policies(p_workspace_id text) returns setof capacity.policies
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from capacity.policies p where p.workspace_id = p_workspace_id order by p.kind, p.rank, p.id;
$$;
comment on function capacity.list_policies(text) is 'Approval rules of a workspace, the deciding ones first.';
