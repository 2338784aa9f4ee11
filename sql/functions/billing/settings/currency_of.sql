-- The currency that a workspace prefers.
create or replace function billing.currency_of(p_workspace_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (billing.settings_of(p_workspace_id)).currency;
end
$$;
comment on function billing.currency_of(text) is 'The currency of a workspace.';
