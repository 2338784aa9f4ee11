-- A new token for a workspace's wizard, and what can be ordered there. Nothing is stored before the first step is saved.
create or replace function public.begin_draft(p_workspace_id text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform billing.wizard_requester(p_workspace_id);
  return billing.draft_json(p_workspace_id, 'draft', gen_random_uuid(), null);
end
$$;
comment on function public.begin_draft(text) is 'Begins an order in the self-service wizard.';
