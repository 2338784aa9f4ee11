-- What a page of the wizard shows. Changes nothing, however often it is called: mail scanners follow links.
create or replace function public.describe_draft(p_workspace_id text, p_token text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  perform billing.wizard_requester(p_workspace_id);
  v_found := billing.find_draft(p_workspace_id, p_token);
  return billing.draft_json(p_workspace_id, v_found.kind, v_found.id, v_found.draft);
end
$$;
comment on function public.describe_draft(text, text) is 'An order that is being filled in, or its outcome.';
