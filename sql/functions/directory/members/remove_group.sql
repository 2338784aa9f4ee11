-- Removes an infra group, unless something still needs it.
create or replace function directory.remove_group(p_workspace_id text, p_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform from directory.groups g where g.workspace_id = p_workspace_id and g.id = p_id for update;
  if not found then
    perform headroom.fail('not_found', format('There is no group "%s" in this workspace.', left(p_id, 64)), null,
                          'List groups: headroom members groups');
  end if;
  perform headroom.run_hooks('directory.group_removed', jsonb_build_object('workspace_id', p_workspace_id, 'group_id', p_id));
  delete from directory.groups g where g.workspace_id = p_workspace_id and g.id = p_id;
end
$$;
comment on function directory.remove_group(text, text) is 'Deletes an infra group that nothing waits for.';
