-- Deletes an approval rule. Requests that were submitted under it keep its effect.
create or replace function capacity.remove_policy(p_workspace_id text, p_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from capacity.policies p where p.workspace_id = p_workspace_id and p.id = p_id;
  if not found then
    perform headroom.fail('not_found', format('There is no rule "%s" in this workspace.', left(p_id, 64)), null,
                          'List rules: headroom policy list');
  end if;
end
$$;
comment on function capacity.remove_policy(text, text) is 'Deletes an approval rule.';
