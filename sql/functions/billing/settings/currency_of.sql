-- The currency that a workspace prefers.
create or replace function billing.currency_of(p_workspace_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((select s.currency from billing.settings s where s.workspace_id = p_workspace_id), 'USD');
end
$$;
comment on function billing.currency_of(text) is 'The currency of a workspace.';
