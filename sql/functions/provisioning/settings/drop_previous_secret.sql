-- Deletes the replaced secret: from now on only the current one is accepted.
create or replace function provisioning.drop_previous_secret(p_workspace_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.forget_in_vault(headroom.drop_boxes(array[provisioning.secret_name(p_workspace_id) || ':previous']));
end
$$;
comment on function provisioning.drop_previous_secret(text) is 'Deletes the replaced callback secret of a workspace.';
